{{/* One endpoint of a ServiceMonitor or PodMonitor; takes a dict of root and monitor. */}}
{{- define "tlsprobe.endpoint" -}}
- port: metrics
  path: {{ include "tlsprobe.prefix" .root }}/metrics
  scheme: {{ include "tlsprobe.scheme" (dict "root" .root "scheme" .monitor.scheme) }}
  honorLabels: {{ .monitor.honorLabels }}
  {{- with .monitor.interval }}
  interval: {{ . }}
  {{- end }}
  {{- with .monitor.scrapeTimeout }}
  scrapeTimeout: {{ . }}
  {{- end }}
  {{- range $key := list "tlsConfig" "basicAuth" "authorization" "relabelings" }}
  {{- with index $.monitor $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- with .monitor.metricRelabelings }}
  metricRelabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* What a ServiceMonitor and a PodMonitor say besides; takes the same. */}}
{{- define "tlsprobe.monitor" -}}
selector:
  matchLabels:
    {{- include "tlsprobe.selectorLabels" .root | nindent 4 }}
namespaceSelector:
  matchNames:
    - {{ include "tlsprobe.namespace" .root }}
{{- range $key := list "sampleLimit" "labelLimit" }}
{{- with index $.monitor $key }}
{{ $key }}: {{ int64 . }}
{{- end }}
{{- end }}
{{- with .monitor.jobLabel }}
jobLabel: {{ . }}
{{- end }}
{{- range $key := list "targetLabels" "podTargetLabels" }}
{{- with index $.monitor $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
