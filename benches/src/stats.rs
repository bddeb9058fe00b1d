//! Means with confidence intervals, percentiles.

/// A signed mean and the half width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mean {
    pub(crate) mean: f64,
    pub(crate) half_width: f64,
}

/// Mean of the differences of rounds, with a normal approximation (1.96 standard errors; rounds number 50 and more).
#[allow(clippy::cast_precision_loss, reason = "counts of rounds are small")]
pub(crate) fn mean(values: &[f64]) -> Mean {
    let n = values.len() as f64;
    if values.len() < 2 {
        return Mean { mean: values.first().copied().unwrap_or(0.0), half_width: f64::INFINITY };
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Mean { mean, half_width: 1.96 * (variance / n).sqrt() }
}

/// The middle value.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// Rounded to a tenth, for people.
pub(crate) fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_equal_values_is_empty() {
        let m = mean(&[3.0; 10]);
        assert!((m.mean - 3.0).abs() < 1e-9 && m.half_width < 1e-9);
    }

    /// 0 and 2, fifty times each: mean 1, standard deviation about 1, standard error about 0.1.
    #[test]
    fn the_interval_is_two_standard_errors() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 2) * 2.0).collect();
        let m = mean(&values);
        assert!((m.mean - 1.0).abs() < 1e-9 && (m.half_width - 0.197).abs() < 0.005, "{m:?}");
    }
}
