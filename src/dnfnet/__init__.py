from dnfnet import nn  # noqa
