//! `identify --starts`, `--profiles`, `--bootstrap` and `--bands`, and threads.

use crate::run::Place;
use serde_json::Value;

/// What a command prints as JSON with so many threads, without times.
fn with_threads(place: &Place, command: &str, threads: &str) -> Value {
    let mut started = place.command(command);
    let run = Place::end(started.env("COSTATE_THREADS", threads));
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let mut result: Value = serde_json::from_str(&run.out).unwrap();
    (result["seconds"], result["date"], result["duration"]) = (Value::Null, Value::Null, Value::Null);
    for method in result["methods"].as_array_mut().into_iter().flatten().filter(|method| method.is_object()) {
        method["seconds"] = Value::Null;
    }
    result
}

/// Protects results from the number of threads: starts, profiles, Hessians, differences and experiments at their start are the same to the
/// last bit.
#[test]
fn threads_change_nothing() {
    let place = Place::new();
    let mut problem = "model = \"oscillator\"\n".to_string();
    for (name, amplitude) in [("one.csv", 1.0), ("two.csv", 0.5), ("three.csv", 2.0)] {
        let row = |t: f64| format!("{t},{},{}\n", amplitude * (9.0 * t).sin(), 0.1 * amplitude * (7.0 * t).cos());
        place.write(name, format!("t,F,a\n{}", (0..50).map(|i| row(f64::from(i) * 0.02)).collect::<String>()));
        problem += &format!("[[experiment]]\nfile = \"{name}\"\n");
    }
    place.write("several.toml", problem);
    let commands = [
        "check several.toml --json",
        "identify engine_mount --end 0.4 --starts 7 --profiles --bootstrap 40 --bands --noise-level 0.02 --json",
        "hessian spatial_chain --json",
        "gradient spatial_chain --method all --json",
    ];
    for command in commands {
        let one = with_threads(&place, command, "1");
        // their shares are no whole numbers, and they are more than cores
        assert_eq!(with_threads(&place, command, "3"), one, "{command}");
    }
}

/// Protects what people read: optima with their counts, intervals beside those of standard errors, figures, and a result as published.
#[test]
fn starts_and_profiles_are_told() {
    let place = Place::new();
    let run = place
        .run("identify engine_mount --end 0.4 --starts 8 --start-seed 2 --profiles --noise-level 0.02 --out found");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.err.contains("8 starts:") && run.err.contains("optimum  searches"), "{}", run.err);
    assert!(run.out.contains("95 % by profile") && run.out.contains("identifiable"), "{}", run.out);
    for name in ["starts.svg", "starts_parameters.svg", "profiles.svg", "profiles.csv"] {
        assert!(place.path("found").join(name).is_file(), "{name}");
    }
    let result: Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
    assert_eq!(crate::schema::faults(&result), Vec::<String>::new());
    assert_eq!(result["starts"]["searches"].as_array().unwrap().len(), 8);
    let profiles = result["profiles"]["parameters"].as_array().unwrap();
    assert_eq!(profiles.len(), 4);
    // the bound of the damping, which no parabola knows
    let d_h2 = &profiles[3];
    assert!(d_h2["name"] == "d_H2" && d_h2["interval"][0].is_null() && d_h2["lower"]["end"] == "bound", "{d_h2}");
    assert!(d_h2["upper"]["end"] == "interval" && d_h2["verdict"] == "from-above", "{d_h2}");
    // repeated, it is the same
    let again = place.run("identify --from found --json");
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&again["starts"], &again["profiles"]), (&result["starts"], &result["profiles"]));
}

/// Protects what a fit says of bodies: inertias that follow from factors, with errors by the parameters' covariance through derivatives by hand; what no motion tells is
/// undetermined, and bodies that parameters say themselves are not repeated.
#[test]
fn bodies_are_told_beside_their_start() {
    let place = Place::new();
    let run = place.good("identify rigid_body_factors --noise-level 0.01 --out found --report");
    let result: Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
    assert_eq!(crate::schema::faults(&result), Vec::<String>::new());
    let names = result["correlation"]["names"].as_array().unwrap();
    let parameter = |name: &str| {
        let own = result["parameters"].as_array().unwrap().iter().find(|own| own["name"] == name).unwrap();
        ["value", "standard_error"].map(|key| own[key].as_f64().unwrap_or(f64::INFINITY))
    };
    let of = |[first, second]: [&str; 2]| {
        let [i, j] = [first, second].map(|name| names.iter().position(|own| own == name).unwrap());
        result["correlation"]["matrix"][i][j].as_f64().unwrap() * parameter(first)[1] * parameter(second)[1]
    };
    let body =
        |quantity: &str| result["bodies"].as_array().unwrap().iter().find(|own| own["quantity"] == quantity).unwrap();
    let [l_1, l_2, l_21, l_31, l_32] = ["ln_L11", "ln_L22", "L21", "L31", "L32"].map(|name| parameter(name)[0]);
    let (a, b) = (l_1.exp(), l_2.exp());
    for (quantity, value, slopes) in [
        ("I_zz", a * a + l_21 * l_21 + b * b, [2.0 * a * a, 2.0 * b * b, 2.0 * l_21, 0.0, 0.0]),
        ("I_xy", -a * l_21, [-a * l_21, 0.0, -a, 0.0, 0.0]),
        ("I_xz", -a * l_31, [-a * l_31, 0.0, 0.0, -a, 0.0]),
        ("I_yz", -(l_21 * l_31 + b * l_32), [0.0, -b * l_32, -l_31, -l_21, -b]),
    ] {
        let all = ["ln_L11", "ln_L22", "L21", "L31", "L32"].into_iter().zip(slopes).filter(|(_, slope)| *slope != 0.0);
        let all: Vec<(&str, f64)> = all.collect();
        let pairs = all.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
        let variance: f64 = pairs.map(|(a, b)| a.1 * b.1 * of([a.0, b.0])).sum();
        let own = body(quantity);
        let [found, error] = ["value", "standard_error"].map(|key| own[key].as_f64().unwrap());
        assert!((found - value).abs() < 1e-12 * value.abs() && own["determined"] == true, "{own} {value}");
        // derivatives by differences, and correlations that are printed in full
        assert!((error - variance.sqrt()).abs() < 1e-6 * error, "{own} {}", variance.sqrt());
    }
    for quantity in ["I_xx", "I_yy"] {
        assert!(body(quantity)["determined"] == false && body(quantity)["standard_error"].is_null());
        assert!(!run.out.contains(quantity), "{}", run.out);
    }
    assert!((body("I_zz")["start"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(body("mass")["standard_error"], 0.0);
    assert!(run.out.contains("body  I_zz [kg m^2]"), "{}", run.out);
    let page = place.read("found/report.html");
    assert!(page.contains(">Bodies<") && page.contains("undetermined"));
    let plain = place.json("identify rigid_body --noise-level 0.01 --json", 0);
    assert_eq!(plain["bodies"], serde_json::json!([]));
}

/// Protects the words on what cannot be.
#[test]
fn wrong_starts_and_profiles_get_a_sentence() {
    let place = Place::new();
    let cases: &[(&str, &[&str])] = &[
        ("identify oscillator --starts 0", &["starts", "take two or more"]),
        ("identify oscillator --starts 1", &["take two or more"]),
        ("identify oscillator --starts 3 --start-factor 0.5", &["factor around starts", "above 1"]),
        ("identify oscillator --start-seed 3", &["--starts"]),
        ("identify oscillator --starts 18446744073709551615", &["memory", "take fewer"]),
        ("identify oscillator --noise-level 0.1 --bootstrap 99999999999999", &["memory", "take fewer"]),
        ("identify oscillator --fix d --profiles=c,d", &["profile of `d`", "is fixed", "--free d"]),
        ("identify oscillator --profiles=dd", &["`dd`", "`d`"]),
    ];
    for (command, parts) in cases {
        let run = place.run(command);
        assert_eq!(run.code, 2, "{command}: {}{}", run.out, run.err);
        parts.iter().for_each(|part| assert!(run.err.contains(part), "{command}: {}", run.err));
    }
    let some = place.json("identify engine_mount --end 0.4 --profiles=d_E --noise-level 0.02 --json", 0);
    let profiles = some["profiles"]["parameters"].as_array().unwrap();
    assert!(profiles.len() == 1 && profiles[0]["name"] == "d_E", "{profiles:?}");
    let run = place.run("identify oscillator --profiles");
    assert!(run.code == 0 && run.out.contains("no profiles") && run.out.contains("--noise-level"), "{}", run.out);
}

/// Protects maps of the cost: every method's way begins at the start and ends at the optimum, the least cost of the map is near it, the figure has
/// them all; and the words on what cannot be drawn.
#[test]
fn landscapes_show_the_ways_of_methods() {
    let place = Place::new();
    let run = place.run("landscape oscillator c d --points 15 --out map --range c=10:50");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("least cost of the map") && run.out.contains("newton-tr"), "{}", run.out);
    let result: Value = serde_json::from_str(&place.read("map/landscape.json")).unwrap();
    let numbers = |value: &Value| value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<f64>>();
    let c = numbers(&result["x"]["values"]);
    assert_eq!((c.len(), c[0], c[14]), (15, 10.0, 50.0));
    let ways = result["ways"].as_array().unwrap();
    assert_eq!(ways.len(), 4);
    let [first, last] = [0, 1].map(|end| {
        let points = ways[0]["points"].as_array().unwrap();
        numbers(&points[if end == 0 { 0 } else { points.len() - 1 }])
    });
    assert!(ways.iter().all(|way| numbers(&way["points"][0]) == first));
    // the least of the map is a step of the map from the end of the ways at most
    let costs: Vec<Vec<f64>> = result["cost"].as_array().unwrap().iter().map(numbers).collect();
    let least = costs.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let column = costs.iter().find_map(|row| row.iter().position(|cost| *cost == least)).unwrap();
    assert!((c[column] - last[0]).abs() <= 2.0 * (c[1] - c[0]), "{last:?} {}", c[column]);
    assert!(
        place.read("map/landscape.svg").contains("lm, ") && place.read("map/landscape.csv").starts_with("c [N/m],d [")
    );
    for (command, part) in [
        ("landscape oscillator", "name two behind the model"),
        ("landscape oscillator c", "name two behind the model"),
        ("landscape oscillator c c", "both sides are `c`"),
        ("landscape oscillator c zz", "zz"),
        ("landscape oscillator c d --range k=1:2", "the sides are `c` and `d`"),
        ("landscape oscillator c d --range c=3:2", "the smaller end first"),
        ("landscape oscillator c d --methods nonsense", "nonsense"),
        ("landscape oscillator c d --points 1", "two points"),
    ] {
        let run = place.run(command);
        assert!(run.code == 2 && run.err.contains(part), "{command}: {} {}", run.code, run.err);
    }
}

/// Protects what people read of a bootstrap and of bands: tables, files, a result as published that is repeated to the bit, and bands of another
/// record from the result alone, which hold of white noise about what they say.
#[test]
fn bootstrap_and_bands_are_told() {
    let place = Place::new();
    let run = place.run("identify engine_mount --end 0.4 --bootstrap 40 --bands --noise-level 0.02 --out found");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    for part in ["40 replicates by blocks of residuals of", "95 % by bootstrap", "samples within 95 %", "at a bound in"]
    {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    for name in ["bootstrap.svg", "bootstrap.csv", "band_a1.svg", "band_a1.csv", "band_x1.csv"] {
        assert!(place.path("found").join(name).is_file(), "{name}");
    }
    assert_eq!(place.read("found/bootstrap.csv").lines().count(), 41);
    let columns = place.read("found/band_a1.csv").lines().next().unwrap().to_string();
    assert!(
        columns.contains("a1 lower samples [m/s^2],a1 upper samples") && columns.contains("upper bootstrap"),
        "{columns}"
    );
    let result: Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
    assert_eq!(crate::schema::faults(&result), Vec::<String>::new());
    assert_eq!(result["bootstrap"]["values"].as_array().unwrap().len(), 40);
    assert!(result["bootstrap"]["parameters"][3]["interval"][0] == 0.0, "the bound of d_H2");
    let again = place.run("identify --from found --json");
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&again["bootstrap"], &again["bands"]), (&result["bootstrap"], &result["bands"]));

    // other noise of the same deviation about the truth
    let deviation = result["bands"]["outputs"][0]["noise"].as_f64().unwrap();
    let run =
        place.run(&format!("identify engine_mount --end 0.4 --noise-level a1={deviation} --noise-seed 9 --out other"));
    assert_eq!(run.code, 0, "{}", run.err);
    let outputs = place.read("other/outputs.csv");
    let rows: Vec<Vec<&str>> = outputs.lines().map(|line| line.split(',').collect()).collect();
    let inputs = place.run("simulate engine_mount --end 0.4 --out driven");
    assert_eq!(inputs.code, 0, "{}", inputs.err);
    let driven = place.read("driven/outputs.csv");
    let input = driven.lines().map(|line| line.rsplit(',').next().unwrap());
    let record: Vec<String> =
        rows.iter().zip(input).map(|(row, input)| format!("{},{},{input}", row[0], row[1])).collect();
    place.write("other.csv", record.join("\n").replace(" reference", ""));
    let run = place.run("validate found --data other.csv --bands --out checked");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("samples within 95 %") && place.path("checked/band_a1.svg").is_file(), "{}", run.out);
    let checked: Value = serde_json::from_str(&place.read("checked/validation.json")).unwrap();
    let own = &checked["bands"]["outputs"][0];
    let part = own["inside"].as_f64().unwrap() / own["samples"].as_f64().unwrap();
    // four deviations of a count of 400
    assert!((part - 0.95).abs() < 4.0 * (0.95f64 * 0.05 / 400.0).sqrt(), "{own}");
}

/// Protects the words on what cannot be drawn again, before the fit; and on what a fit has nothing to be drawn from.
#[test]
fn wrong_bootstraps_get_a_sentence() {
    let place = Place::new();
    let cases: &[(&str, &[&str])] = &[
        ("identify oscillator --bootstrap 39", &["39 replicates", "40 or more"]),
        ("identify oscillator --bootstrap some", &["whole number"]),
        ("identify oscillator --bootstrap 50 --block 100", &["more than half of the record"]),
        ("identify oscillator --bootstrap 50 --block -1", &["have no length"]),
        ("identify oscillator --bootstrap 50 --bootstrap-over block", &["kind of bootstrap `block`", "blocks"]),
        ("identify oscillator --bootstrap 50 --bootstrap-over experiments", &["one experiment"]),
        ("identify oscillator --bootstrap-seed 3", &["--bootstrap"]),
        ("identify oscillator --block 0.1", &["--bootstrap"]),
        ("identify oscillator --bootstrap 50 --fix c,d", &["fixed"]),
    ];
    for (command, parts) in cases {
        let run = place.run(command);
        assert_eq!(run.code, 2, "{command}: {}{}", run.out, run.err);
        parts.iter().for_each(|part| assert!(run.err.contains(part), "{command}: {}", run.err));
    }
    let run = place.run("identify oscillator --bootstrap 50 --bands --out clean");
    assert!(run.code == 0 && run.out.contains("no bootstrap") && run.out.contains("no bands"), "{}", run.out);
    assert_eq!(place.run("simulate oscillator --out driven").code, 0);
    let run = place.run("validate clean --data driven/outputs.csv --bands");
    assert!(run.code == 2 && run.err.contains("round-off") && run.err.contains("--bands"), "{}{}", run.out, run.err);
}
