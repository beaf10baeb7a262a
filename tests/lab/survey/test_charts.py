"""Charts of an item's document."""

from celosia.lab.survey.charts import charts


def value(name, paper, ours, unit=""):
    return {"name": name, "paper": paper, "ours": ours, "unit": unit}


def test_numbers_of_different_kinds_have_different_axes():
    item = {
        "values": [
            value("a", 1.0, 2.0, "operations"),
            value("b", 5.0, 1000.0, "bytes"),
            value("c", 3.0, 4.0, "operations"),
            value("not in the survey", None, 4.0, "cycles"),
            value("not obtained", 3.0, None, "cycles"),
        ]
    }
    drawn = charts(item)
    axes = [figure["layout"]["xaxis"] for figure in drawn]
    assert [axis["title"]["text"] for axis in axes] == ["operations", "bytes"]
    assert [axis["type"] for axis in axes] == ["linear", "log"]
    survey, ours = drawn[0]["data"]
    assert (survey["name"], survey["y"], survey["x"]) == ("survey", ["a", "c"], [1, 3])
    assert (ours["name"], ours["y"], ours["x"]) == ("ours", ["a", "c"], [2, 4])


def test_what_is_below_0_has_no_logarithm():
    (figure,) = charts({"values": [value("a", 1.0, 200.0, "x"), value("b", -78.0, 3.0, "x")]})
    assert figure["layout"]["xaxis"]["type"] == "linear"


def test_shares_of_time_are_bars_of_all_kinds():
    item = {
        "values": [
            value("before: softmax share", 19.0, 20.0),
            value("before: matmul share", 1.0, 2.0),
            value("speed-up", 40.0, 50.0, "times"),
            value("after: softmax share", 3.0, 0.5),
            value("after: waiting share", None, 0.25),
        ]
    }
    shares, speed = charts(item)
    rows = ["before, survey", "before, ours", "after, survey", "after, ours"]
    assert {trace["name"]: trace["x"] for trace in shares["data"]} == {
        "softmax": [19, 20, 3, 0.5],
        "matmul": [1, 2, 0, 0],
        "waiting": [0, 0, 0, 0.25],
    }
    assert all(trace["y"] == rows for trace in shares["data"])
    assert shares["layout"]["barmode"] == "stack"
    assert speed["data"][1]["x"] == [50]


def test_nothing_to_compare_is_no_chart():
    assert charts({"values": [value("a", None, 2.0, "x")]}) == []
