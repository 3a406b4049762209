//! `costate identify --bootstrap`, `--bands`, and `costate validate --bands`: how data that are drawn again, and new data, may differ.

use super::console::{tell, waiting};
use super::remedy;
use super::result::Earlier;
use super::settings;
use costate::Interrupt;
use costate_identify::bands::{Band, Uncertainty, add_bootstrap, bands};
use costate_identify::bootstrap::{Bootstrap, Bootstrapped, Over, bootstrap};
use costate_identify::optimise::Trace;
use costate_identify::problem::Problem;
use costate_identify::statistics::{LEVELS, Statistics};
use costate_identify::work::Work;
use costate_identify::{Error, Result};
use costate_identify::{Identification, Settings};
use costate_report::{bands_json, bands_text, bootstrap_json, bootstrap_text};
use nalgebra::DMatrix;
use serde_json::{Value, json};

#[derive(clap::Args, Debug, Default, PartialEq)]
pub(super) struct BootstrapArguments {
    /// Fit so many times to data drawn again: standard errors and 95 % intervals without assumptions on noise (200)
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::count)]
    bootstrap: Option<usize>,
    /// Seed of these random numbers [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::seed, requires = "bootstrap")]
    bootstrap_seed: Option<u64>,
    /// Draw `experiments` [default with 8 or more] or `blocks` of residuals
    #[arg(long, value_name = "NAME", requires = "bootstrap")]
    bootstrap_over: Option<String>,
    /// Length of these blocks, s [default: by the residuals' autocorrelation]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = settings::number, requires = "bootstrap")]
    block: Option<f64>,
    /// 95 % bands around outputs: of the model, and of new samples
    #[arg(long)]
    bands: bool,
}

/// Bootstrap and bands that were asked for, as far as they were found.
#[derive(Default)]
pub(super) struct Further {
    bootstrap: Option<Result<Bootstrapped>>,
    bands: Option<Result<Vec<Band>>>,
}

impl BootstrapArguments {
    /// The bootstrap that is asked for.
    fn asked(&self) -> Result<Option<Bootstrap>> {
        let usual = Bootstrap::default();
        let Some(replicates) = self.bootstrap else { return Ok(None) };
        let over: Option<Over> = self.bootstrap_over.as_deref().map(str::parse).transpose()?;
        Ok(Some(Bootstrap { replicates, seed: self.bootstrap_seed.unwrap_or(usual.seed), over, block: self.block }))
    }

    /// True if there are replicates.
    pub fn is_divided(&self) -> bool {
        self.bootstrap.is_some()
    }

    /// Refuses before the fit what cannot be done after it.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        self.asked()?.map_or(Ok(()), |asked| asked.check(problem))
    }

    /// Bootstrap and bands of what was found, if they are asked for; or why there are none.
    pub fn further(
        &self,
        problem: &Problem,
        found: &Identification,
        statistics: &Result<Statistics>,
        settings: &Settings,
        work: &Work<'_>,
    ) -> Result<Further> {
        let mut silent = settings.clone();
        silent.options.trace = Trace::default();
        let statistics = statistics.as_ref().map_err(Clone::clone);
        let bootstrapped = self.asked()?.map(|asked| {
            let progress = waiting("replicates", asked.replicates);
            let show = |what: &str, done: usize, count: usize| progress.part(what, done, count);
            bootstrap(problem, found, statistics.clone()?, &silent, &asked, (work, &show))
        });
        let around = || {
            let uncertainty = Uncertainty::of(statistics.clone()?)?;
            let mut found = bands(problem, &found.values(), &uncertainty, &settings.options.interrupt)?;
            if let Some(Ok(replicates)) = &bootstrapped {
                add_bootstrap(problem, replicates, &mut found)?;
            }
            Ok(found)
        };
        let bands = self.bands.then(around);
        Ok(Further { bootstrap: bootstrapped, bands })
    }
}

impl Further {
    /// True if there are no replicates though they were asked for: after an interrupt, those that are kept are to be gone on from.
    pub fn is_cut(&self) -> bool {
        matches!(self.bootstrap, Some(Err(_)))
    }

    /// Bootstrap and bands, as far as there are any.
    pub fn found(&self) -> (Option<&Bootstrapped>, Option<&[Band]>) {
        let bands = self.bands.as_ref().and_then(|found| found.as_ref().ok());
        (self.bootstrap.as_ref().and_then(|found| found.as_ref().ok()), bands.map(Vec::as_slice))
    }

    /// Adds what was found to a result.
    pub fn extend_json(&self, result: &mut Value) {
        let missing = |reason: &Error| json!({"missing_because": remedy::sentence(reason)});
        if let Some(found) = &self.bootstrap {
            result["bootstrap"] = found.as_ref().map_or_else(missing, bootstrap_json);
        }
        if let Some(found) = &self.bands {
            result["bands"] = found.as_ref().map_or_else(missing, |bands| bands_json(bands));
        }
    }

    /// Texts for a person, one for each that was asked for.
    pub fn texts(&self) -> Vec<String> {
        let bootstrap = self.bootstrap.as_ref();
        let bootstrap = bootstrap.map(|found| {
            found.as_ref().map_or_else(|e| format!("no bootstrap: {}", remedy::sentence(e)), bootstrap_text)
        });
        let bands = self.bands.as_ref();
        let bands = bands.map(|found| {
            found.as_ref().map_or_else(|e| format!("no bands: {}", remedy::sentence(e)), |b| bands_text(b))
        });
        bootstrap.into_iter().chain(bands).collect()
    }
}

/// Bands around the outputs of other records, at the values of an earlier result, by what that says of its parameters and of the noise.
pub(super) fn bands_of_records(earlier: &Earlier, problem: &Problem) -> Result<Vec<Band>> {
    let uncertainty = uncertainty(&earlier.document).map_err(|problem| {
        let remedy = "identify again with this version, from data with noise; or leave out --bands";
        Error::file(earlier.path(), None, problem, remedy)
    })?;
    let local: Vec<&str> = uncertainty.names.iter().map(String::as_str).filter(|name| name.contains('@')).collect();
    if !local.is_empty() {
        tell(&format!(
            "note: the bands know nothing of what single experiments have for themselves ({}): each record has values of its own",
            local.join(", ")
        ));
    }
    bands(problem, &problem.start, &uncertainty, &Interrupt::default())
}

/// Uncertainty of parameters and noise as a result gives it; or what it lacks.
fn uncertainty(result: &Value) -> std::result::Result<Uncertainty, String> {
    let lacks = |what: &str| format!("it says nothing of {what}, on which bands rest");
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().into_iter().flatten().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
    };
    if result["noise_free"] == true {
        return Err("its data are reproduced to round-off: there is no noise by which outputs could be off".into());
    }
    let names = result["correlation"]["names"].as_array().ok_or_else(|| lacks("the correlation of its parameters"))?;
    let names: Vec<String> = names.iter().filter_map(|name| Some(name.as_str()?.to_string())).collect();
    let rows: Vec<Vec<f64>> = result["correlation"]["matrix"].as_array().into_iter().flatten().map(numbers).collect();
    let listed = result["parameters"].as_array().into_iter().flatten();
    let error = |name: &String| {
        let own = listed.clone().find(|parameter| parameter["name"] == name.as_str())?;
        own["standard_error"].as_f64()
    };
    let errors: Option<Vec<f64>> = names.iter().map(error).collect();
    let errors = errors.ok_or_else(|| lacks("the standard errors of all its parameters"))?;
    if rows.len() != names.len() || rows.iter().any(|row| row.len() != names.len() || row.iter().any(|x| x.is_nan())) {
        return Err(lacks("the correlation of its parameters"));
    }
    let covariance = DMatrix::from_fn(names.len(), names.len(), |i, j| rows[i][j] * errors[i] * errors[j]);
    let count = |key: &str| result[key].as_u64().ok_or_else(|| lacks(key));
    let (residuals, freedom) = (count("residuals")?, count("degrees_of_freedom")?);
    let is_estimated = result["noise"] == "estimated";
    let inflation = (residuals as f64 / freedom as f64).sqrt();
    let in_time = |name: &str| {
        // lines of a spectrum are tested by no test of time
        let tests = result["residual_tests"].as_array().into_iter().flatten();
        tests.into_iter().all(|tests| tests["output"] != name || tests["finding"] != "lines")
    };
    let outputs = result["deviations"].as_array().into_iter().flatten();
    let noise = outputs.filter_map(|entry| {
        let name = entry["output"].as_str()?;
        let deviation = match is_estimated {
            true => inflation * result["rmse"][name].as_f64()?,
            false => entry["deviation"].as_f64()?,
        };
        in_time(name).then(|| (name.to_string(), deviation))
    });
    let quantile = LEVELS[1].quantile(is_estimated.then_some(freedom as usize));
    Ok(Uncertainty { names, covariance, quantile, noise: noise.collect() })
}
