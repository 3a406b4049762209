//! Models of files as Rust: what is written compiles, and gives the same bits.

mod emps;
mod pendulum;
mod stop;

use super::{derivatives, folder};
use costate::{Model, Plain};
use costate_identify::registry::Entry;
use std::path::Path;
use std::sync::Arc;

fn is_same<M: Model + 'static>(name: &str, model: M) {
    let path = folder().join(format!("{name}.toml"));
    let file = costate_file::read(&path).unwrap();
    let own = Entry::new("", Arc::new(Plain::new(model).unwrap()), file.scenario.clone());
    assert_eq!(own.system.signature(), file.system.signature());
    let [a, b] = [&own, &file].map(|entry| derivatives(&entry.problem(&entry.scenario).unwrap()));
    assert_eq!(a, b, "{name}");
}

/// Protects the way on: what `costate export` writes is the model of the file, to the last bit of its Hessian. What is compiled here is what is written:
/// `WRITE=1 cargo test -p costate-tests --test engine files::exported` writes it anew.
#[test]
fn exported_models_are_those_of_files() {
    for name in ["emps", "pendulum", "stop"] {
        let source = costate_file::export(&folder().join(format!("{name}.toml"))).unwrap();
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("engine/files/exported/{name}.rs"));
        if std::env::var_os("WRITE").is_some() {
            std::fs::write(&place, &source).unwrap();
        }
        // but for how lines are broken
        let plain = |text: &str| {
            text.replace(",)", ")").chars().filter(|c| !c.is_whitespace() && *c != ',').collect::<String>()
        };
        let written = std::fs::read_to_string(&place).unwrap_or_default();
        assert_eq!(plain(&written), plain(&source), "{name}");
    }
    is_same("emps", emps::Emps);
    is_same("pendulum", pendulum::Pendulum);
    is_same("stop", stop::Stop);
}
