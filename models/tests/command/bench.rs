//! `costate bench`: problems whose answers are known.

use crate::run;
use run::Place;

// Protects known answers, those that take no long: closed forms, Andrews' squeezer, the engine mount in quadruple precision, the crane. And that a row may be off: with a
// billionth of what is allowed they are, the command fails, and page and result say so.
#[test]
fn known_answers_are_found() {
    let place = Place::new();
    let problems = "a01 a03 a04 mount crane rigid-body";
    let found = place.json(&format!("bench {problems} --json"), 0);
    assert!(found["agrees"] == true && found["problems"].as_array().unwrap().len() == 6, "{found}");
    let text = place.good("bench mount").out;
    assert!(text.contains("cost by BFGS [m^2/s^3]") && text.contains("all agree") && !text.contains("OFF"), "{text}");
    let run = place.run("bench a01 mount --allowed 1e-9 --out strict");
    assert!(run.code == 1 && run.out.contains("OFF: 2"), "{}", run.out);
    let page = place.read("strict/bench.md");
    assert!(page.contains("| OFF |") && page.contains("problems: 2, OFF: 2"), "{page}");
    assert!(place.read("strict/bench.json").contains("\"agrees\": false"));
    let run = place.run("bench a06");
    assert!(run.code == 2 && run.err.contains("there is no problem `a06`; did you mean `a0"), "{}", run.err);
    let run = place.run("bench a01 --allowed -1");
    assert!(run.code == 2, "{}", run.err);
}
