//! Work in numbered tasks: kept, taken over, and divided among ranks, which are threads here.

use costate::Interrupt;
use costate_identify::optimise::Flow;
use costate_identify::profile::{Profiles, profiles};
use costate_identify::starts::{ManySearches, Starts, identify_from_many};
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::work::{Farewell, Ranks, Stage, Team, Work, exact};
use costate_identify::{Error, Result};
use costate_identify::{Settings, identify};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

/// A folder of a test, removed at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("costate-work-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn work(&self, problem: Value) -> Result<Work<'static>> {
        Work::of(problem).kept_in(&self.0.join("unfinished"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a task gives: numbers of all kinds.
#[derive(Debug, Serialize, Deserialize)]
struct Given {
    third: f64,
    #[serde(with = "exact")]
    odd: f64,
}

fn stage<'a>(interrupt: &'a Interrupt, done: &'a (dyn Fn(usize) + Sync)) -> Stage<'a> {
    Stage { name: "third", what: "thirds", threads: 2, interrupt, done }
}

fn thirds(work: &Work<'_>, items: &[usize], fails: Option<usize>, begun: &AtomicUsize) -> Result<Vec<Given>> {
    work.run(&stage(&Interrupt::default(), &|_| {}), items, |&item| {
        begun.fetch_add(1, Ordering::Relaxed);
        let odd = [f64::INFINITY, f64::NAN, f64::NEG_INFINITY, -0.0][item % 4];
        match fails {
            Some(bad) if bad == item => Err(Error::invalid(format!("item {item}"), "it is bad", "take another")),
            _ => Ok(Given { third: item as f64 / 3.0, odd }),
        }
    })
}

fn bits(given: &[Given]) -> Vec<[u64; 2]> {
    // of NaN, which one it is does not matter
    let odd = |odd: f64| if odd.is_nan() { f64::NAN } else { odd };
    given.iter().map(|given| [given.third.to_bits(), odd(given.odd).to_bits()]).collect()
}

/// Protects values that are kept: all bits of them, infinities and NaN too; of an error in the middle all others stay, the next run does what is
/// missing alone, and in the end nothing is left. A file that is damaged, or of another item, is done again.
#[test]
fn values_are_kept_and_taken_over() {
    let place = Place::new("kept");
    let items: Vec<usize> = (0..12).collect();
    let begun = AtomicUsize::new(0);
    let all = thirds(&Work::default(), &items, None, &begun).unwrap();
    assert_eq!(all[7].third, 7.0 / 3.0);
    let work = place.work(json!({"a": 1})).unwrap();
    let error = thirds(&work, &items, Some(8), &begun).unwrap_err();
    assert_eq!(error.to_string(), "item 8: it is bad; take another");
    assert!(work.remedy().contains("run the same command again"), "{}", work.remedy());
    let text = place.work(json!({"a": 1})).err().unwrap().to_string();
    assert!(text.contains("another run is at work there") && text.contains("another folder"), "{text}");
    drop(work);
    let again = place.work(json!({"a": 1})).unwrap();
    // those before the bad one, and perhaps the one beside it
    let left = again.left_over();
    assert!(left == 8 || left == 9, "{left}");
    let file = |name: &str| place.0.join("unfinished").join(name);
    std::fs::write(file("third_0002.json"), "{\"input\": 1, \"resu").unwrap();
    std::fs::write(file("third_0003.json"), "{\"input\": 7, \"result\": {\"third\": 1.0, \"odd\": 1.0}}").unwrap();
    begun.store(0, Ordering::Relaxed);
    assert_eq!(bits(&thirds(&again, &items, None, &begun).unwrap()), bits(&all));
    assert_eq!(begun.load(Ordering::Relaxed), 12 - left + 2);
    again.end().unwrap();
    assert_eq!(std::fs::read_dir(&place.0).unwrap().count(), 0);
}

/// Protects from values of another problem: refused with the key that changed and the remedies; so is a folder of nobody knows what.
#[test]
fn another_problem_is_refused() {
    let place = Place::new("refused");
    let work = place.work(json!({"a": 1, "b": {"c": "x"}})).unwrap();
    thirds(&work, &[1, 2, 3], None, &AtomicUsize::new(0)).unwrap();
    drop(work);
    let text = place.work(json!({"a": 1, "b": {"c": "y"}})).err().unwrap().to_string();
    for part in
        ["`b.c` was \"x\", and is \"y\"", "give what was given then", "remove that folder", "choose another one"]
    {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    std::fs::remove_file(place.0.join("unfinished/problem.json")).unwrap();
    let text = place.work(json!({"a": 1})).err().unwrap().to_string();
    assert!(text.contains("no problem.json") && text.contains("remove that folder"), "{text}");
}

/// Protects values of another problem that began in the same folder meanwhile, and values from files that hold something else.
#[test]
fn folders_of_others_are_left_alone() {
    let (place, begun) = (Place::new("others"), AtomicUsize::new(0));
    // both begin with an empty folder; one ends in the middle, and leaves its values
    let [first, second] = [1, 2].map(|problem| place.work(json!({"problem": problem})).unwrap());
    assert!(thirds(&first, &[0, 1, 2], Some(2), &begun).is_err());
    drop(first);
    let error = thirds(&second, &[0, 1], None, &begun).unwrap_err().to_string();
    assert!(error.contains("another run has begun there"), "{error}");
    drop(second);
    // a file that is no value is done again
    let file = place.0.join("unfinished/third_0001.json");
    let kept = std::fs::read_to_string(&file).unwrap();
    let (head, _) = kept.split_once("\"result\":").unwrap();
    std::fs::write(&file, format!("{head}\"result\":{{\"foo\":1}}}}\n")).unwrap();
    let before = begun.load(Ordering::Relaxed);
    thirds(&place.work(json!({"problem": 1})).unwrap(), &[0, 1], None, &begun).unwrap();
    assert_eq!(begun.load(Ordering::Relaxed), before + 1);
}

/// Protects against half a task that looks like a whole one: of those that an interrupt ends nothing is kept.
#[test]
fn interrupted_tasks_are_not_kept() {
    let place = Place::new("interrupted");
    let (work, interrupt) = (place.work(Value::Null).unwrap(), Interrupt::default());
    let items: Vec<usize> = (0..6).collect();
    let stage = Stage { threads: 1, ..stage(&interrupt, &|_| {}) };
    let found: Result<Vec<usize>> = work.run(&stage, &items, |&item| {
        if item == 2 {
            interrupt.raise();
        }
        Ok(item)
    });
    let text = found.unwrap_err().to_string();
    assert!(text.contains("interrupted when 2 of 6 had ended; run the same command again"), "{text}");
    drop(work);
    assert_eq!(place.work(Value::Null).unwrap().left_over(), 2);
}

/// Ranks that are threads.
struct Channels {
    rank: usize,
    to: Vec<Sender<(usize, Vec<u8>)>>,
    from: Receiver<(usize, Vec<u8>)>,
}

impl Ranks for Channels {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<()> {
        let lost = |_| Error::invalid("a rank", "it has gone", "look why");
        self.to[to].send((self.rank, message.to_vec())).map_err(lost)
    }

    fn receive(&self) -> Result<Option<(usize, Vec<u8>)>> {
        match self.from.try_recv() {
            Ok(message) => Ok(Some(message)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Error::invalid("a rank", "it has gone", "look why")),
        }
    }
}

/// What every one of so many ranks makes of the same program, and how all have ended: the exit code, and what rank 0 says of the others.
fn on_ranks<T: Send>(
    count: usize,
    program: impl Fn(usize, &Team<'_>) -> Result<T> + Sync,
) -> Vec<(Result<T>, u8, Vec<String>)> {
    let (to, from): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
    std::thread::scope(|scope| {
        let begin = |(rank, from)| {
            let (to, program) = (to.clone(), &program);
            scope.spawn(move || {
                let ranks = Channels { rank, to, from };
                let team = Team::new(&ranks);
                let found = program(rank, &team);
                let sentence = found.as_ref().err().map(Error::to_string);
                let (code, others) =
                    team.farewell(Farewell { code: if sentence.is_some() { 2 } else { 0 }, sentence }).unwrap();
                (found, code, others)
            })
        };
        let begun: Vec<_> = from.into_iter().enumerate().map(begin).collect();
        begun.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

fn certainty(work: &Work<'_>) -> Result<(ManySearches, Profiles)> {
    let (mut problem, settings) = (crate::starts::wave(), Settings::default());
    let found =
        identify_from_many(&problem, &settings, &Starts { count: 9, factor: 8.0, seed: 3 }, work, &|_, _, _| {})?;
    problem.start.clone_from(found.begin.as_ref().unwrap());
    let best = identify(&problem, &settings, &mut |_| Flow::Continue)?;
    let statistics = Statistics::of(&problem, &best, Noise::Estimated)?;
    let profiles = profiles(&problem, &best, &statistics, &settings, &problem.free(), (work, &|_, _, _| {}))?;
    Ok((found, profiles))
}

/// Protects results from the number of ranks: starts and profiles are those of threads to the last bit, on every rank; what rank 0 keeps, a run
/// without ranks takes over.
#[test]
fn ranks_change_nothing() {
    let place = Place::new("ranks");
    let alone = certainty(&Work::default()).unwrap();
    // all digits of all numbers
    let all = format!("{alone:?}");
    for count in [1, 2, 4] {
        let found = on_ranks(count, |rank, team| {
            let work = Work::of(json!({"count": count}));
            let work = if rank == 0 { work.kept_in(&place.0.join(count.to_string()))? } else { work };
            certainty(&work.divided_among(Some(team)))
        });
        assert_eq!(found.len(), count);
        for (found, code, others) in found {
            assert_eq!((format!("{:?}", found.unwrap()), code, others.len()), (all.clone(), 0, 0), "{count} ranks");
        }
    }
    let work = Work::of(json!({"count": 4})).kept_in(&place.0.join("4")).unwrap();
    assert!(work.left_over() >= 9 + 4, "{}", work.left_over());
    assert_eq!(format!("{:?}", certainty(&work).unwrap()), all);
}

/// Protects against ranks that wait for each other: an error on any of them, within a stage or beside it, ends all with one sentence, and so does a
/// rank that works on another problem, at another stage, or with other values; so does an interrupt.
#[test]
fn an_error_on_one_rank_ends_all() {
    let items: Vec<usize> = (0..40).collect();
    let begun = AtomicUsize::new(0);
    let sentences = |problem: fn(usize) -> Value, program: &(dyn Fn(usize, &Work<'_>) -> Result<()> + Sync)| {
        let found = on_ranks(3, |rank, team| program(rank, &Work::of(problem(rank)).divided_among(Some(team))));
        let failed = found.iter().filter(|(found, ..)| found.is_err()).count();
        assert!(found.iter().all(|(_, code, _)| *code == 2), "{found:?}");
        let first = found[0].0.as_ref().map_or_else(Error::to_string, |()| String::new());
        (failed, [vec![first], found[0].2.clone()].concat().join("|"))
    };
    let same = |_: usize| json!({"starts": {"seed": 1}});
    // whoever gets it
    let (failed, text) = sentences(same, &|_, work| thirds(work, &items, Some(20), &begun).map(drop));
    assert!(failed == 3 && text.ends_with("item 20: it is bad; take another") && !text.contains('|'), "{text}");
    // before the stage, on another rank and on the first one
    for bad in [2, 0] {
        let (failed, text) = sentences(same, &|rank, work| match rank == bad {
            true => Err(Error::invalid("file", "it is not here", "copy it")),
            false => thirds(work, &items, None, &begun).map(drop),
        });
        assert!(failed == 3 && text.contains("file: it is not here; copy it") && !text.contains('|'), "{bad}: {text}");
    }
    // after the last stage
    let (failed, text) = sentences(same, &|rank, work| {
        thirds(work, &items, None, &begun)?;
        if rank == 1 { Err(Error::invalid("disk", "it is full", "free some space")) } else { Ok(()) }
    });
    assert!(failed == 1 && text == "|on rank 1: disk: it is full; free some space", "{failed} {text}");
    let other = |rank: usize| json!({"starts": {"seed": if rank == 1 { 2 } else { 1 }}});
    let (failed, text) = sentences(other, &|_, work| thirds(work, &items, None, &begun).map(drop));
    assert!(
        failed == 3 && text.contains("rank 1: it has another problem than rank 0: `starts.seed` is 2, and on rank 0 1"),
        "{text}"
    );
    let (failed, text) = sentences(same, &|rank, work| thirds(work, &items[rank / 2..], None, &begun).map(drop));
    assert!(failed == 3 && text.contains("rank 2") && text.contains("begins with other values"), "{text}");
    let (failed, text) = sentences(same, &|rank, work| {
        let (interrupt, name) = (Interrupt::default(), if rank == 1 { "second" } else { "first" });
        work.run(&Stage { name, ..stage(&interrupt, &|_| {}) }, &items, |item| Ok(*item)).map(drop)
    });
    assert!(failed == 3 && text.contains("rank 1 is at `second`, rank 0 at `first`"), "{text}");
    // of one rank, on which it must be raised for all
    let (failed, text) = sentences(same, &|rank, work| {
        let interrupt = Interrupt::default();
        let found = work.run(&stage(&interrupt, &|_| {}), &items, |item| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            if rank == 1 {
                interrupt.raise();
            }
            Ok(*item)
        });
        assert!(interrupt.is_raised());
        found.map(drop)
    });
    assert!(failed == 3 && text.contains("thirds: interrupted when") && !text.contains('|'), "{text}");
}
