//! Judgement of residuals, in words.

use super::{GAP, InputCorrelation, Interval, ResidualTests, TimeOffset};
use costate::shown::rounded;

/// Chance finds something in white noise as often as this.
pub(super) const LEVEL: f64 = 0.01;

/// Correlations below this hardly matter, however many samples prove them: they explain a hundredth of the residuals.
const SLIGHT: f64 = 0.1;

/// An outlier that chance makes as seldom as this is one whatever else is found.
const CERTAIN: f64 = 1e-9;

/// Remedy for an outlier.
const WITHOUT_IT: &str = "look at this sample, which pulls the parameters: leave it out (an empty cell), or take a robust loss (loss = \"huber\")";

/// Outputs whose residuals are judged one by one; of more, there is one sentence.
const FEW: usize = 3;

/// Finding on the residuals of an output, by what matters first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// Residuals that follow an input, or lead it.
    FollowInput,
    /// Residuals that are correlated with themselves.
    Correlated,
    /// Residuals that are all the same.
    Constant,
    /// Residuals whose mean is not zero.
    Offset,
    /// One of them is much larger than the others let expect.
    Outlier,
    /// Residuals that are white, but not normal.
    NotNormal,
    /// Residuals that are correlated, so slightly that it does not matter.
    SlightlyCorrelated,
    /// Residuals that are white noise.
    White,
    /// Too few residuals to be tested.
    TooFew,
    /// Residuals that are round-off.
    RoundOff,
    /// Residuals of a spectrum: one does not follow another in time.
    Lines,
}

impl Finding {
    /// True if the finding is to be known before the numbers are used.
    pub fn is_warning(self) -> bool {
        self <= Finding::Outlier
    }
}

/// A sentence on one output, or on many.
#[non_exhaustive]
pub struct Overall {
    pub sentence: String,
    pub is_warning: bool,
}

impl ResidualTests {
    /// Finding where chance may make it with this probability.
    pub(super) fn find(&self, level: f64) -> Finding {
        if self.autocorrelation.is_none() {
            return self.finding;
        }
        let inputs = self.inputs.iter().filter(|input| input.p_value * (self.inputs.len() as f64) < level);
        let is_correlated = self.whiteness.is_some_and(|test| test.p_value < level);
        let strongest = self.strongest().map_or(0.0, |(_, value)| value.abs());
        let (slight, plain): (Vec<_>, Vec<_>) = inputs.partition(|input| input.correlation.abs() < SLIGHT);
        match () {
            () if !plain.is_empty() => Finding::FollowInput,
            () if is_correlated && strongest >= SLIGHT => Finding::Correlated,
            () if self.mean_p_value < level => Finding::Offset,
            () if self.largest.is_some_and(|largest| largest.p_value < level) => Finding::Outlier,
            () if is_correlated || !slight.is_empty() => Finding::SlightlyCorrelated,
            () if self.normality.is_some_and(|found| !found.few_samples && found.test.p_value < level) => {
                Finding::NotNormal
            }
            () => Finding::White,
        }
    }

    /// The lag with the largest autocorrelation, and that.
    fn strongest(&self) -> Option<(i64, f64)> {
        let found = self.autocorrelation.as_ref()?;
        let pairs = found.lags.iter().copied().zip(found.values.iter().copied()).filter(|(_, value)| !value.is_nan());
        pairs.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
    }

    /// A number of lags in s.
    fn time_of(&self, lags: f64) -> String {
        let about = if self.is_even { "" } else { "about " };
        format!("{about}{} s", rounded(lags * self.step, 3))
    }

    /// Clause on what the residuals do: `follow input `F` at a delay of 0.02 s`.
    fn clause(&self, finding: Finding) -> String {
        match finding {
            Finding::FollowInput => self.following(),
            Finding::Correlated => self.correlated(),
            Finding::Constant => format!("are the same at all samples ({} {})", rounded(self.mean, 3), self.unit),
            Finding::Offset => {
                format!("have a mean of {} {} (p = {:.1e})", rounded(self.mean, 3), self.unit, self.mean_p_value)
            }
            Finding::Outlier => format!("have an outlier, {}", self.largest_in_words()),
            Finding::NotNormal => self.normality.map_or(String::new(), |found| {
                let (skewness, kurtosis) = (rounded(found.skewness, 2), rounded(found.excess_kurtosis, 2));
                format!("are white, but not normal (skewness {skewness}, excess kurtosis {kurtosis})")
            }),
            Finding::SlightlyCorrelated => {
                let strongest = self.strongest().map_or(0.0, |(_, value)| value.abs());
                let inputs = self.inputs.iter().filter(|input| input.p_value < LEVEL);
                let most = inputs.fold(strongest, |most, input| most.max(input.correlation.abs()));
                format!("are slightly correlated (at most {})", rounded(most, 2))
            }
            Finding::White => "are white".into(),
            Finding::TooFew => format!("are too few to be tested ({})", self.samples),
            Finding::RoundOff => "are round-off".into(),
            Finding::Lines => format!("are those of {} numbers of a spectrum", self.samples),
        }
    }

    /// `x = 1e9 m at t = 2.5 s, 4e8 standard deviations off`
    fn largest_in_words(&self) -> String {
        self.largest.map_or(String::new(), |largest| {
            let (size, time) = (rounded(largest.studentised.abs(), 2), rounded(largest.time, 6));
            let (name, value, unit) = (&self.output, rounded(largest.value, 5), &self.unit);
            format!("{name} = {value} {unit} at t = {time} s, {size} standard deviations off")
        })
    }

    /// The sample that most of what residuals are comes from, in words, if there is one beyond doubt.
    pub(crate) fn dominating_outlier(&self) -> Option<String> {
        let largest = self.largest?;
        // its square is then more than about the sum of all others
        let is_most = largest.studentised.powi(2) > self.samples as f64;
        (is_most && largest.p_value < CERTAIN).then(|| format!("{}; {WITHOUT_IT}", self.largest_in_words()))
    }

    fn following(&self) -> String {
        let Some(most) = self.leading() else { return String::new() };
        let (name, size) = (&most.input, rounded(most.correlation, 2));
        let delay = self.time_of(most.lag.unsigned_abs() as f64);
        match most.lag {
            0 => format!("follow input `{name}` without delay (correlation {size})"),
            1.. => format!("follow input `{name}` at a delay of {delay} (correlation {size})"),
            _ => format!("lead input `{name}` by {delay} (correlation {size})"),
        }
    }

    fn correlated(&self) -> String {
        let Some((lag, value)) = self.strongest() else { return String::new() };
        let first = self.autocorrelation.as_ref().map_or(0.0, |found| found.values[0]);
        match self.correlated_lags {
            0 if lag == 1 => format!("alternate: neighbours are correlated by {}", rounded(first, 2)),
            0 => format!("are correlated at {} (lag {lag}: {})", self.time_of(lag as f64), rounded(value, 2)),
            1 => format!("are correlated with their neighbours ({})", rounded(first, 2)),
            lags => {
                let more = if self.is_run_cut { "more than " } else { "" };
                format!("are correlated over {more}{} (lags 1 to {lags})", self.time_of(lags as f64))
            }
        }
    }

    /// The input whose part in the residuals is least by chance.
    fn leading(&self) -> Option<&InputCorrelation> {
        let plain = self.inputs.iter().filter(|input| input.correlation.abs() >= SLIGHT);
        // of probabilities too small for a number, the larger correlation
        let size = |input: &InputCorrelation| -input.correlation.abs();
        plain.min_by(|a, b| a.p_value.total_cmp(&b.p_value).then(size(a).total_cmp(&size(b))))
    }

    /// Meaning of a finding, in words.
    fn meaning(&self, finding: Finding) -> &'static str {
        let alternates = self.correlated_lags == 0 && self.strongest().is_some_and(|(lag, _)| lag == 1);
        match finding {
            Finding::FollowInput if self.leading().is_some_and(|input| input.lag < 0) => {
                "it is recorded late, or fed back from the output"
            }
            Finding::FollowInput => {
                "how it acts on the output is not modelled well (a delay, a gain, dynamics on the way)"
            }
            Finding::Correlated if alternates => {
                "the data are differentiated or the integrator oscillates, rather than that dynamics are missing"
            }
            Finding::Correlated => "dynamics are missing, not noise",
            Finding::Constant | Finding::Offset => "an offset is missing",
            Finding::Outlier => WITHOUT_IT,
            Finding::NotNormal => "confidence intervals are approximate",
            Finding::SlightlyCorrelated => "the model explains nearly all that the data hold",
            Finding::White if !self.explains => {
                "the data hold noise alone, or what the model shows nowhere near these parameters"
            }
            Finding::White => "the model explains what the data hold",
            Finding::TooFew => "nothing is known of them",
            Finding::RoundOff => "there is nothing to test",
            Finding::Lines => "tests of samples in time say nothing of them",
        }
    }

    pub(super) fn sentence(&self, finding: Finding) -> String {
        let errors = match finding {
            Finding::FollowInput | Finding::Correlated => too_small(self.standard_error_factor, ""),
            _ => String::new(),
        };
        let gap = self.across_gap();
        let (shift, start) = match finding {
            Finding::FollowInput | Finding::Correlated => (self.shifted(), self.beginning_elsewhere()),
            _ => Default::default(),
        };
        let is_hidden = finding < Finding::Outlier && self.largest.is_some_and(|largest| largest.p_value < CERTAIN);
        let also = if is_hidden {
            format!("; there is an outlier, {}: {WITHOUT_IT}", self.largest_in_words())
        } else {
            String::new()
        };
        let (clause, meaning) = (self.clause(finding), self.meaning(finding));
        format!("residuals of `{}` {clause}: {meaning}{shift}{start}{errors}{gap}{also}", self.output)
    }

    /// Clause on data that are later or earlier than the model says, if that would explain much.
    fn shifted(&self) -> String {
        /// Part of the residuals' squares. Parameters that make up for a late sensor leave a quarter to a third of them; other things that a model lacks
        /// look like a shift, too, but less so (dry friction at a motor: a sixth; a start in motion: a fifth).
        const MUCH_OF_THEM: f64 = 0.25;
        let Some(TimeOffset { later, share }) = self.shift.filter(|shift| shift.share >= MUCH_OF_THEM) else {
            return String::new();
        };
        let (word, asked) =
            if later < 0.0 { ("earlier", "an input recorded late") } else { ("later", "the sensor late") };
        format!(
            "; {:.0} % of their squares look like data that come {word} than the model says: is {asked}? sensor = [\"delay\"] of this output finds by \
             how much",
            100.0 * share
        )
    }

    /// Clause on a record that begins elsewhere than the model.
    fn beginning_elsewhere(&self) -> String {
        let Some((off, part, remedy)) = &self.off_at_start else {
            return String::new();
        };
        format!(
            "; at the first sample they are {} {}, {:.0} % of what the record varies: if it begins elsewhere than the model, {remedy}",
            rounded(*off, 3),
            self.unit,
            100.0 * part
        )
    }

    /// Clause on a gap across which nothing is correlated.
    fn across_gap(&self) -> String {
        let gap = self.largest_interval.filter(|gap| gap.until - gap.from > GAP * self.step * (1.0 + 1e-6));
        match (gap, &self.autocorrelation) {
            (Some(Interval { from, until }), Some(_)) => format!(
                "; there are no samples from {} s to {} s: those on both sides are not taken for neighbours",
                rounded(from, 6),
                rounded(until, 6)
            ),
            _ => String::new(),
        }
    }

    /// The tests of all outputs: a sentence each, or one for many, what matters first. Among many, chance finds something at 1 % sooner,
    /// so that the level is divided by their number.
    pub fn overall(all: &[ResidualTests]) -> Vec<Overall> {
        if all.len() <= FEW {
            let one = |tests: &ResidualTests| Overall {
                sentence: tests.judgement.clone(),
                is_warning: tests.finding.is_warning(),
            };
            return all.iter().map(one).collect();
        }
        let level = LEVEL / all.len() as f64;
        let mut found: Vec<(Finding, &ResidualTests)> = all.iter().map(|tests| (tests.find(level), tests)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.severity().total_cmp(&a.1.severity())));
        vec![overall(&found)]
    }

    /// Among outputs with the same finding, the larger matters more.
    pub fn severity(&self) -> f64 {
        let inputs = self.inputs.iter().map(|input| input.correlation.abs());
        match self.finding {
            Finding::FollowInput => inputs.fold(0.0, f64::max),
            Finding::Outlier => self.largest.map_or(0.0, |largest| largest.studentised.abs()),
            Finding::Offset | Finding::Constant => -self.mean_p_value,
            _ => self.standard_error_factor,
        }
    }
}

/// Clause on standard errors that are too small by correlated residuals, if it is worth a word.
fn too_small(factor: f64, up_to: &str) -> String {
    if factor < 1.15 {
        return String::new();
    }
    format!("; standard errors are too small, perhaps by a factor of {up_to}{}", rounded(factor, 2))
}

fn overall(found: &[(Finding, &ResidualTests)]) -> Overall {
    let warned: Vec<&(Finding, &ResidualTests)> = found.iter().filter(|(finding, _)| finding.is_warning()).collect();
    let [(finding, worst), ..] = warned.as_slice() else {
        return Overall { sentence: nothing_to_warn_of(found), is_warning: false };
    };
    let clause =
        |(finding, tests): &&(Finding, &ResidualTests)| format!("`{}` {}", tests.output, tests.clause(*finding));
    let shown: Vec<String> = warned.iter().take(FEW).map(clause).collect();
    let rest = if warned.len() > shown.len() { ", those of others less so" } else { "" };
    let most = warned.iter().map(|(_, tests)| tests.standard_error_factor).fold(1.0, f64::max);
    let sentence = format!(
        "residuals of {} of {} outputs are not white noise. Those of {}{rest}: {}{} (each: `residual_tests` of the result)",
        warned.len(),
        found.len(),
        shown.join(", those of "),
        worst.meaning(*finding),
        too_small(most, "up to "),
    );
    Overall { sentence, is_warning: true }
}

fn nothing_to_warn_of(found: &[(Finding, &ResidualTests)]) -> String {
    let counts = [
        (Finding::NotNormal, "not normal"),
        (Finding::SlightlyCorrelated, "slightly correlated"),
        (Finding::TooFew, "too few to be tested"),
        (Finding::RoundOff, "round-off"),
        (Finding::Lines, "of spectra, which are not tested"),
    ];
    let count = |wanted: Finding| found.iter().filter(|(finding, _)| *finding == wanted).count();
    let but = counts.map(|(finding, what)| (count(finding), what)).into_iter().filter(|(count, _)| *count > 0);
    let but: Vec<String> = but.map(|(count, what)| format!("{count} {what}")).collect();
    let but = if but.is_empty() { String::new() } else { format!(" (of these {})", but.join(", ")) };
    format!("residuals of all {} outputs are white{but}: the model explains what the data hold", found.len())
}
