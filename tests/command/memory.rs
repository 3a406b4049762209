//! `--memory`: limits of what the states of runs may take.

use crate::run::Place;

// Protects runs under a limit: the same numbers come out, a line says what they cost, and wrong limits are reported.
#[test]
fn limits_of_memory_change_no_number() {
    let place = Place::new();
    let message = "note: states of 20,000 steps do not fit in 60 kB: ";
    for arguments in ["gradient oscillator --json", "hessian oscillator --json"] {
        let arguments = format!("{arguments} --step 1e-3 --end 20");
        let (whole, limited) = (place.run(&arguments), place.run(&format!("{arguments} --memory 60kB")));
        assert!(whole.code == 0 && limited.code == 0, "{}{}", whole.err, limited.err);
        assert!(limited.err.contains(message) && !whole.err.contains("note"), "{}{}", whole.err, limited.err);
        // times that it took are different
        let numbers = |text: &str| {
            let lines = text.lines().filter(|line| !line.contains("seconds") && !line.contains("_ms"));
            lines.map(str::to_string).collect::<Vec<String>>()
        };
        assert_eq!(numbers(&whole.out), numbers(&limited.out), "{arguments}");
    }
    place.write("small.toml", "model = \"oscillator\"\n[integrator]\nstep = 1e-3\nend = 20\nmemory = \"60 kB\"\n");
    assert!(place.run("gradient small.toml --json").err.contains(message));
    // rows are written as they come
    for (folder, limit) in [("whole", ""), ("streamed", " --memory 100kB")] {
        let run = place.run(&format!("simulate oscillator --step 1e-3 --end 20 --out {folder}{limit}"));
        assert_eq!(run.code, 0, "{}", run.err);
        assert_eq!(run.err.contains("rows are written as they come"), folder == "streamed", "{}", run.err);
    }
    let read = |folder: &str, name: &str| std::fs::read_to_string(place.path(folder).join(name)).unwrap();
    for name in ["states.csv", "outputs.csv"] {
        assert!(read("whole", name) == read("streamed", name), "{name}");
    }
    // but for the error of the time step, which takes both runs at once
    let [mut whole, streamed] = ["whole", "streamed"]
        .map(|folder| serde_json::from_str::<serde_json::Value>(&read(folder, "simulation.json")).unwrap());
    assert!(whole.as_object_mut().unwrap().remove("time_step_error").is_some());
    assert_eq!(whole, streamed);
    assert!(place.path("streamed/outputs.svg").exists());
    for (size, problem) in [("10B", "is less than one step of"), ("lots", "not a size"), ("0MB", "not positive")] {
        place.refused(&format!("gradient oscillator --memory {size}"), &[problem]);
    }
}
