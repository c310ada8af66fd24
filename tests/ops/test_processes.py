"""The kernel in several threads, after a fork, and in distributed training."""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.distributed as dist
from blocks import make_block
from torch.nn.parallel import DistributedDataParallel

from dnfnet.nn import DNFNet, Layout


def results_equal(block, expected):
    return all(torch.equal(a, b) for a, b in zip(block.run(), expected, strict=True))


def test_several_python_threads_at_once(fused):
    block = make_block(Layout(32), 500, 12)
    expected = block.run()
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda _: results_equal(block, expected), range(12)))


def _in_a_child(connection, block, expected):
    connection.send(results_equal(block, expected))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_after_a_fork(fused):
    """Threads live for one call only, so a child process misses none."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        block = make_block(Layout(64), 700, 12)
        expected = block.run()
        here, there = multiprocessing.Pipe()
        child = multiprocessing.get_context("fork").Process(target=_in_a_child, args=(there, block, expected))
        child.start()
        assert here.poll(60)
        assert here.recv()
        child.join()
    finally:
        torch.set_num_threads(before)


def _train(rank, address, queue):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    torch.manual_seed(0)
    net = DNFNet(4, 2, n_formulas=8, beta=1.0)
    x = torch.randn(64, 4)
    parallel = DistributedDataParallel(net)
    (parallel(x[rank::2]).square().mean() + net.penalty()).backward()
    queue.put((rank, net.block.weight.grad.tolist(), net.localization.mu.grad.tolist()))
    dist.barrier()
    dist.destroy_process_group()


def test_distributed_gradients_are_those_of_the_whole_batch(fused, tmp_path):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    address = f"file://{tmp_path}/store"
    workers = [context.Process(target=_train, args=(rank, address, queue)) for rank in range(2)]
    for worker in workers:
        worker.start()
    results = sorted(queue.get(timeout=60) for _ in workers)
    for worker in workers:
        worker.join()
    torch.manual_seed(0)
    net = DNFNet(4, 2, n_formulas=8, beta=1.0)
    (net(torch.randn(64, 4)).square().mean() + net.penalty()).backward()
    for _, weight, mu in results:
        torch.testing.assert_close(torch.tensor(weight), net.block.weight.grad, rtol=1e-4, atol=1e-7)
        torch.testing.assert_close(torch.tensor(mu), net.localization.mu.grad, rtol=1e-4, atol=1e-7)
