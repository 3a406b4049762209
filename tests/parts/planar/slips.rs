//! Messages on mechanisms that cannot be.

use costate_parts::planar::{Body, Mechanism};

/// Protects the messages: slips in putting a mechanism together are named by their parts.
#[test]
fn slips_are_named() {
    let message = |build: fn(&mut Mechanism)| {
        let mut mechanism = Mechanism::new("trial");
        build(&mut mechanism);
        match mechanism.build() {
            Ok(_) => panic!("nothing was noticed"),
            Err(error) => error.to_string(),
        }
    };
    let text = message(|m| {
        let a = m.body("arm", Body::new(1.0, 1.0));
        m.revolute("pin", a.at([0.0, 0.0]), a.at([1.0, 0.0]));
    });
    assert!(text.contains("`pin`") && text.contains("connects `arm` to itself"), "{text}");
    let text = message(|m| {
        m.body("arm", Body::new(1.0, 1.0));
        m.body("arm", Body::new(2.0, 1.0));
    });
    assert!(text.contains("two of its") && text.contains("`arm"), "{text}");
    let text = message(|m| {
        let (a, b) = (m.body("a", Body::new(1.0, 1.0)), m.body("b", Body::new(1.0, 1.0)));
        m.rod("stick", a.at([0.0, 0.0]), b.at([0.0, 0.0]), 0.0);
    });
    assert!(text.contains("`stick`") && text.contains("0 m") && text.contains("revolute"), "{text}");
    let text = message(|m| {
        let (a, b) = (m.body("a", Body::new(1.0, 1.0)), m.point("b", 1.0, [0.0, 0.0]));
        m.gears("mesh", &a, &b, -1.0);
    });
    assert!(text.contains("`mesh`") && text.contains("`b`"), "{text}");
    let text = message(|m| {
        let a = m.body("a", Body::new(1.0, 1.0).at([0.5, 0.0], 0.0));
        m.revolute("left", m.ground().at([0.0, 0.0]), a.at([-0.5, 0.0]));
        m.revolute("right", m.ground().at([1.0, 0.0]), a.at([0.5, 0.0]));
    });
    assert!(text.contains("1 of its 4 constraint rows") && text.contains("`right.x` repeats `left.x`"), "{text}");
}
