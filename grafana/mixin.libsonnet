// Dashboards, alerts and recording rules for those who deploy mixins:
//
//   (import 'tls-resumption-exporter/grafana/mixin.libsonnet')
//   + { _config+:: { runbooks: 'https://wiki.acme.example/tls' } }

// Thresholds are numbers, and Kubernetes' PrometheusRule takes text alone for those with a fraction.
local written(rule) = rule + { expr: if std.isNumber(rule.expr) then '%g' % rule.expr else rule.expr };
local rules(file) = [
  group + { rules: [written(rule) for rule in group.rules] }
  for group in std.parseYaml(file).groups
];

{
  _config:: {
    // Where the runbooks are kept.
    runbooks: 'https://tlsprobe.example/runbooks',
    // Tags of the dashboards beside their own.
    tags: [],
  },

  local config = self._config,
  local placed(text) = std.strReplace(text, 'https://tlsprobe.example/runbooks', config.runbooks),
  local dashboard(file) = std.parseJson(placed(file)) + { tags+: config.tags },

  grafanaDashboards+:: {
    'tlsprobe-exporter.json': dashboard(importstr 'dashboards/tlsprobe-exporter.json'),
    'tlsprobe-fleet.json': dashboard(importstr 'dashboards/tlsprobe-fleet.json'),
    'tlsprobe-target.json': dashboard(importstr 'dashboards/tlsprobe-target.json'),
    'tlsprobe-waves.json': dashboard(importstr 'dashboards/tlsprobe-waves.json'),
  },

  prometheusAlerts+:: {
    groups+: rules(placed(importstr '../deploy/prometheus/rules/alerts.yaml')),
  },

  prometheusRules+:: {
    groups+: rules(importstr '../deploy/prometheus/rules/recording.yaml'),
  },
}
