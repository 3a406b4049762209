//! The standard figures: of signals, costs, parameters and statistics.

use super::{assert_well_formed, ramp};
use costate_report::plot::{self, Figure};

/// Protects the standard figures: they are drawn from realistic data and name what they show.
#[test]
fn standard_figures_are_drawn() -> costate_identify::Result<()> {
    let time = ramp(500);
    let wave = |size: f64| time.iter().map(|t| size * (20.0 * t).sin()).collect::<Vec<f64>>();
    let (large, small, tiny) = (wave(30.0), wave(0.2), wave(1e-9));
    let svg = |figure: Figure| -> costate_identify::Result<String> {
        let svg = figure.to_svg()?;
        assert_well_formed(&svg);
        Ok(svg)
    };
    let input = svg(plot::input(&time, &[("force", "N", &large), ("torque", "N m", &small)])?)?;
    assert!(input.contains("force [N]") && input.contains("torque [N m]") && input.contains("time [s]"));
    assert!(svg(plot::trajectory(&time, &[("x", "", &small)])?)?.contains(">x<"));
    // many signals share a page
    let names: Vec<String> = (0..24).map(|k| format!("signal {k}")).collect();
    let many: Vec<plot::Signal> = names.iter().map(|name| (name.as_str(), "m/s^2", small.as_slice())).collect();
    let many = svg(plot::trajectory(&time, &many)?)?;
    assert!(many.contains("width=\"180mm\"") && many.contains("signal 23 [m/s"), "{}", &many[..200]);
    let height = many.split("height=\"").nth(1).and_then(|rest| rest.split("mm").next()?.parse::<f64>().ok());
    assert!(height.is_some_and(|height| height < 290.0), "{height:?}");
    let outputs = svg(plot::outputs("a", "m/s", &time, ("reference", &large), &small, &large)?)?;
    assert!(outputs.contains("before identification") && outputs.contains("after identification"));
    let linear = svg(plot::errors("x", "m", &time, &[("start", &large), ("end", &wave(3.0))])?)?;
    assert!(!linear.contains("|error of x| [m]"), "errors of similar size have a linear axis");
    assert!(svg(plot::errors("x", "m", &time, &[("start", &large), ("end", &tiny)])?)?.contains("|error of x| [m]"));
    assert!(svg(plot::errors("x", "m", &time, &[("start", &large), ("end", &small)])?)?.contains("|error of x| [m]"));
    let costs = svg(plot::cost_history(&[50.0, 3.0, f64::INFINITY, 1e-9, 2e-9])?)?;
    assert!(costs.contains("best: 1.0×10") && costs.contains("at iteration 3"));
    assert!(svg(plot::cost_history(&[1.0, 0.0])?)?.contains("best: 0 at iteration 1, below the axis"));
    let parameters: [(&str, &[f64]); 3] = [("m", &[2.0, 1.5, 1.0]), ("c", &[0.0, 2.0, 4.0]), ("e", &[1.0, 0.5, 0.0])];
    let relative = svg(plot::parameters(&parameters, Some(&[1.0, f64::NAN, 0.0]))?)?;
    assert!(relative.contains("parameter / optimum") && relative.contains("c / its final value"));
    assert!(relative.contains("1 + e / max |e|"), "a zero optimum cannot be divided by");
    assert!(svg(plot::parameters(&parameters, None)?)?.contains("parameter / final value"));
    let convergence = svg(plot::convergence(&[("HHT", &[0.1, 0.05, 0.025], &[4e-2, 1e-2, 2.5e-3])], &[1.0, 2.0])?)?;
    assert!(convergence.contains("order 1") && convergence.contains("order 2"));
    Ok(())
}

/// Protects callers of the standard figures from silent truncation, and users from empty figures.
#[test]
fn standard_figures_refuse_unusable_data() {
    let message = |figure: costate_identify::Result<Figure>| figure.unwrap_err().to_string();
    let uneven = message(plot::input(&[0.0, 1.0], &[("force", "N", &[1.0])]));
    assert!(uneven.contains("the signal `force`") && uneven.contains("1 values for 2 times"), "{uneven}");
    assert!(message(plot::trajectory(&[], &[])).contains("no values to draw"));
    assert!(message(plot::cost_history(&[f64::NAN])).contains("no finite cost"));
    assert!(message(plot::outputs("a", "m", &[0.0], ("measured", &[1.0]), &[1.0], &[])).contains("values after"));
    assert!(message(plot::parameters(&[("m", &[1.0])], Some(&[]))).contains("0 values for 1 parameters"));
    assert!(message(plot::convergence(&[("HHT", &[0.1], &[])], &[])).contains("`HHT`"));
    assert!(message(plot::errors("x", "m", &[0.0], &[])).contains("no values"));
}

/// Protects the figures of statistics: valid files for usual, unknown and constant values, sentences for none.
#[test]
fn figures_of_statistics_are_valid_or_refused_with_a_sentence() {
    let names: Vec<String> = (0..25).map(|k| format!("a_rather_long_name_{k}<&>")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let value = |i: usize, j: usize| if i == 3 { f64::NAN } else { (i as f64 - j as f64).cos() };
    for count in [1, 2, 7, 25] {
        let values: Vec<Vec<f64>> = (0..count).map(|i| (0..count).map(|j| value(i, j)).collect()).collect();
        let figure = plot::correlation(&names[..count], &values).unwrap();
        assert_well_formed(&figure.to_svg().unwrap());
        if count == 2 {
            figure.to_png().unwrap();
        }
    }
    assert!(plot::correlation(&[], &[]).is_err() && plot::correlation(&["a"], &[vec![]]).is_err());
    let time: Vec<f64> = (0..500).map(f64::from).collect();
    let noise: Vec<f64> = time.iter().map(|t| (t * t * 1e3).sin()).collect();
    for values in [noise, vec![1.0; 500], vec![0.0; 500]] {
        assert_well_formed(&plot::residuals("y", "m", ("time [s]", &time, true), &values).unwrap().to_svg().unwrap());
    }
    assert!(plot::residuals("y", "m", ("time [s]", &[], true), &[]).is_err());
    let (x, y) = (vec![0.0, 1.0, 0.0, -1.0, 0.0], vec![-1.0, 0.0, 1.0, 0.0, -1.0]);
    let pair = || plot::Ellipse { x: ("k", "N/m".into()), y: ("m", "1".into()), outline: (&x, &y) };
    for count in 1..=6 {
        let pairs: Vec<_> = (0..count).map(|_| pair()).collect();
        assert_well_formed(&plot::ellipses(&pairs).unwrap().to_svg().unwrap());
    }
    assert!(plot::ellipses(&[]).is_err());
}

/// Protects noise from being hidden by the line that shows it, and a smooth reference from being hidden by a simulation that agrees
/// with it; few samples are points.
#[test]
fn references_are_drawn_by_what_they_are() -> costate_identify::Result<()> {
    let svg = |count: usize, noise: f64| -> costate_identify::Result<String> {
        let time = ramp(count);
        let smooth: Vec<f64> = time.iter().map(|t| (9.0 * t).sin()).collect();
        let values: Vec<f64> = smooth.iter().enumerate().map(|(i, y)| y + noise * (i * i) as f64 % 1.7).collect();
        plot::comparison("y", "m", &time, ("measured", &values), &smooth)?.to_svg()
    };
    let widths = |svg: &str, color: &str| -> Vec<f64> {
        let lines = svg.lines().filter(|line| line.contains(&format!("stroke=\"{color}\"")));
        lines.filter_map(|line| line.split("stroke-width=\"").nth(1)?.split('"').next()?.parse().ok()).collect()
    };
    let (grey, light) = ("#5A5A5A", "#B9B9B9");
    let dense = svg(2000, 0.0)?;
    assert!(widths(&dense, light).iter().all(|width| *width == 30.0) && !widths(&dense, light).is_empty());
    let rough = svg(2000, 0.05)?;
    let thin = widths(&rough, grey);
    assert!(!thin.is_empty() && thin.iter().all(|width| *width < 10.0) && widths(&rough, light).is_empty(), "{thin:?}");
    let sparse = svg(30, 0.05)?;
    assert!(sparse.matches("<circle").count() >= 30 && widths(&sparse, light).is_empty());
    Ok(())
}

/// Protects the way to the optimum from being flattened by an overshoot: ratios beyond a factor of four are on a logarithmic axis, or cut
/// off where there are zeros or negative ones, and the figure says so.
#[test]
fn overshoots_do_not_flatten_parameters() -> costate_identify::Result<()> {
    let svg = |c: [f64; 6]| -> costate_identify::Result<String> {
        let histories: [(&str, &[f64]); 2] = [("m", &[0.8, 0.9, 1.1, 1.0, 1.0, 1.0]), ("c", &c)];
        let svg = plot::parameters(&histories, Some(&[1.0, 1.0]))?.to_svg()?;
        assert_well_formed(&svg);
        Ok(svg)
    };
    let plain = svg([0.5, 0.8, 1.2, 1.0, 1.0, 1.0])?;
    assert!(plain.contains(">0.8</text>") && !plain.contains("not shown"));
    // multiples of ten are ticks of logarithmic axes only
    let positive = svg([0.5, 20.0, 1.2, 1.0, 1.0, 1.0])?;
    assert!(positive.contains(">10</text>") && positive.contains(">1</text>") && !positive.contains("not shown"));
    let crossing = svg([0.5, 20.0, -0.4, 1.0, 1.0, 1.0])?;
    assert!(crossing.contains("not shown: values down to −0.40 and up to 20<") && !crossing.contains(">10</text>"));
    let both = svg([0.5, 20.0, -30.0, 1.0, 1.0, 1.0])?;
    assert!(both.contains("not shown: values down to −30 and up to 20<"));
    Ok(())
}
