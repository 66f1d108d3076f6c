{{- define "tlsprobe.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "tlsprobe.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "tlsprobe.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "tlsprobe.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "tlsprobe.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "tlsprobe.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tlsprobe.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tlsprobe.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "tlsprobe.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The head of an object's metadata; takes a dict of root, and where it differs name, namespace, labels, annotations. */}}
{{- define "tlsprobe.metadata" -}}
name: {{ default (include "tlsprobe.fullname" .root) .name }}
namespace: {{ default (include "tlsprobe.namespace" .root) .namespace }}
labels:
  {{- include "tlsprobe.labels" .root | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tlsprobe.serviceAccountName" -}}
{{- default (ternary (include "tlsprobe.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{- define "tlsprobe.image" -}}
{{- $registry := default .Values.image.registry .Values.global.imageRegistry -}}
{{- $name := ternary (printf "%s/%s" $registry .Values.image.repository) .Values.image.repository (ne $registry "") -}}
{{- if .Values.image.digest -}}
{{ $name }}@{{ .Values.image.digest }}
{{- else -}}
{{ $name }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{/* The configuration's text. JSON is YAML, and keeps large whole numbers whole, which toYaml does not. */}}
{{- define "tlsprobe.config" -}}
{{- if kindIs "string" .Values.config -}}
{{ .Values.config }}
{{- else -}}
{{- $config := deepCopy .Values.config -}}
{{- if .Values.persistence.enabled -}}
{{- $keys := mergeOverwrite (dict "state_file" "/var/lib/tlsprobe/keys.json") (default dict $config.ticket_keys) -}}
{{- $_ := set $config "ticket_keys" $keys -}}
{{- end -}}
{{ toPrettyJson $config }}
{{- end }}
{{- end }}

{{/* The targets of `config`, as a JSON list; of a text, too. What is no list is for `tlsprobe check` to find. */}}
{{- define "tlsprobe.targets" -}}
{{- $config := .Values.config -}}
{{- if kindIs "string" $config }}{{ $config = fromYaml $config }}{{ end -}}
{{- $targets := list -}}
{{- if kindIs "slice" $config.targets }}{{ range $config.targets }}{{ if kindIs "map" . }}{{ $targets = append $targets . }}{{ end }}{{ end }}{{ end -}}
{{ toJson $targets }}
{{- end }}

{{/* The Services whose EndpointSlices are the backends of targets, as a JSON list. */}}
{{- define "tlsprobe.services" -}}
{{- $services := list -}}
{{- range include "tlsprobe.targets" . | fromJsonArray -}}
{{- if kindIs "map" .backends_from }}{{ with .backends_from.kubernetes }}{{ if kindIs "map" . }}{{ $services = append $services . }}{{ end }}{{ end }}{{ end -}}
{{- end -}}
{{ toJson $services }}
{{- end }}

{{- define "tlsprobe.asksApiServer" -}}
{{- $enabled := .Values.kubernetesDiscovery.enabled -}}
{{- if kindIs "invalid" $enabled }}{{ $enabled = ne (include "tlsprobe.services" .) "[]" }}{{ end -}}
{{- if $enabled }}true{{ end }}
{{- end }}

{{/* The namespaces of these Services, as a JSON list. */}}
{{- define "tlsprobe.watched" -}}
{{- $namespaces := .Values.kubernetesDiscovery.namespaces -}}
{{- range include "tlsprobe.services" . | fromJsonArray -}}
{{- $namespaces = append $namespaces (default (include "tlsprobe.namespace" $) .namespace) -}}
{{- end -}}
{{ default (list (include "tlsprobe.namespace" .)) $namespaces | uniq | sortAlpha | toJson }}
{{- end }}

{{/* The names of the targets that a Probe asks for, as a JSON list. */}}
{{- define "tlsprobe.probed" -}}
{{- $names := .Values.probe.targets -}}
{{- if not $names }}{{ range include "tlsprobe.targets" . | fromJsonArray }}{{ $names = append $names .name }}{{ end }}{{ end -}}
{{ toJson $names }}
{{- end }}

{{- define "tlsprobe.ownConfig" -}}
{{- if and (not .Values.existingConfigMap) (not .Values.existingSecret) (or .Values.config .Values.persistence.enabled) }}true{{ end }}
{{- end }}

{{- define "tlsprobe.hasConfig" -}}
{{- if or (include "tlsprobe.ownConfig" .) .Values.existingConfigMap .Values.existingSecret }}true{{ end }}
{{- end }}

{{- define "tlsprobe.prefix" -}}
{{- $path := "" -}}
{{- with .Values.web.externalUrl }}{{ $path = (urlParse .).path }}{{ end -}}
{{- with .Values.web.routePrefix }}{{ $path = . }}{{ end -}}
{{- with trimAll "/" $path }}/{{ . }}{{ end -}}
{{- end }}

{{- define "tlsprobe.scheme" -}}
{{- default (ternary "https" "http" (ne .root.Values.web.configSecret "")) .scheme -}}
{{- end }}

{{/* Combinations that cannot work end here, in words. */}}
{{- define "tlsprobe.check" -}}
{{- $v := .Values -}}
{{- if and $v.existingConfigMap $v.existingSecret }}{{ fail "existingConfigMap and existingSecret: give one of them" }}{{ end -}}
{{- if and (or $v.existingConfigMap $v.existingSecret) $v.config }}{{ fail "config would be without effect beside existingConfigMap or existingSecret" }}{{ end -}}
{{- if and $v.sharded (ne $v.kind "StatefulSet") }}{{ fail "sharded: only the pods of a StatefulSet have numbers; take kind: StatefulSet" }}{{ end -}}
{{- if and $v.persistence.enabled (eq $v.kind "DaemonSet") }}{{ fail "persistence: the pods of a DaemonSet cannot each have a claim; take extraVolumes with a hostPath" }}{{ end -}}
{{- if and $v.persistence.enabled (eq $v.kind "Deployment") (gt (int $v.replicas) 1) }}{{ fail "persistence: the replicas of a Deployment would share one state file; take kind: StatefulSet" }}{{ end -}}
{{- if and $v.persistence.existingClaim (ne $v.kind "Deployment") }}{{ fail "persistence.existingClaim is for a Deployment" }}{{ end -}}
{{- if and (not $v.service.enabled) (or $v.serviceMonitor.enabled $v.probe.enabled $v.ingress.enabled $v.route.enabled) }}{{ fail "serviceMonitor, probe, ingress and route need service.enabled; podMonitor does not" }}{{ end -}}
{{- if and $v.probe.enabled (eq (include "tlsprobe.probed" .) "[]") }}{{ fail "probe.targets: name the targets, since `config` has none" }}{{ end -}}
{{- if and $v.probe.enabled $v.sharded }}{{ fail "probe asks any pod of the service, and with `sharded` only one knows a target" }}{{ end -}}
{{- if and (include "tlsprobe.asksApiServer" .) $v.rbac.create (eq (include "tlsprobe.serviceAccountName" .) "default") }}{{ fail "kubernetesDiscovery would give its rights to every pod that runs as the service account `default`; set serviceAccount.create, serviceAccount.name, or rbac.create to false" }}{{ end -}}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) }}{{ fail "ingress needs hosts" }}{{ end -}}
{{- if and $v.persistence.enabled (eq $v.kind "Deployment") (ne (default "Recreate" $v.strategy.type) "Recreate") }}{{ fail (printf "strategy.type: %s would start a pod beside the one that holds the volume; with persistence a Deployment takes Recreate" $v.strategy.type) }}{{ end -}}
{{- if eq (int $v.web.port) (int $v.web.healthPort) }}{{ fail (printf "web.port and web.healthPort are both %d; each needs a port of its own" (int $v.web.port)) }}{{ end -}}
{{- if and (kindIs "map" $v.config) (kindIs "slice" $v.config.listen) }}{{ range $v.config.listen }}{{ if not (hasSuffix (printf ":%d" (int $v.web.port)) (toString .)) }}{{ fail (printf "config.listen: %v would be without effect; pods listen at web.port, which is %d" . (int $v.web.port)) }}{{ end }}{{ end }}{{ end -}}
{{- range $place, $labels := dict "commonLabels" $v.commonLabels "podLabels" $v.podLabels "service.labels" $v.service.labels -}}
{{- range $name := list "helm.sh/chart" "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" -}}
{{- if hasKey $labels $name }}{{ fail (printf "%s: %s is the chart's own; nameOverride changes the name" $place $name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if and $v.route.enabled (not $v.route.parentRefs) }}{{ fail "route needs parentRefs" }}{{ end -}}
{{- range $name, $monitor := dict "serviceMonitor" $v.serviceMonitor "podMonitor" $v.podMonitor "probe" $v.probe -}}
{{- if and $monitor.enabled $monitor.basicAuth (eq (include "tlsprobe.scheme" (dict "root" $ "scheme" $monitor.scheme)) "http") }}{{ fail (printf "%s.basicAuth would send the password in clear; it needs scheme: https" $name) }}{{ end -}}
{{- end -}}
{{- end }}
