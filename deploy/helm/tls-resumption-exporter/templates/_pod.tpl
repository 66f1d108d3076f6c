{{/* The pod, the same for all three kinds. */}}
{{- define "tlsprobe.pod" -}}
metadata:
  labels:
    {{- include "tlsprobe.selectorLabels" . | nindent 4 }}
    {{- with .Values.commonLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    kubectl.kubernetes.io/default-container: tlsprobe
    {{- if and (include "tlsprobe.ownConfig" .) (not .Values.configReload) }}
    checksum/config: {{ include "tlsprobe.config" . | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "tlsprobe.serviceAccountName" . }}
  automountServiceAccountToken: {{ or .Values.automountServiceAccountToken (include "tlsprobe.asksApiServer" . | eq "true") }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with .Values.podSecurityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.hostNetwork }}
  hostNetwork: true
  {{- end }}
  {{- with default (ternary "ClusterFirstWithHostNet" "" .Values.hostNetwork) .Values.dnsPolicy }}
  dnsPolicy: {{ . }}
  {{- end }}
  {{- range $key := list "dnsConfig" "hostAliases" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
  {{- with index $.Values $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- range $key := list "priorityClassName" "runtimeClassName" "schedulerName" }}
  {{- with index $.Values $key }}
  {{ $key }}: {{ . }}
  {{- end }}
  {{- end }}
  {{- with .Values.extraInitContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    {{- include "tlsprobe.container" . | nindent 4 }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with include "tlsprobe.volumes" . }}
  volumes:
    {{- . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "tlsprobe.container" -}}
- name: tlsprobe
  image: {{ include "tlsprobe.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
    - run
    {{- if include "tlsprobe.hasConfig" . }}
    - --config=/etc/tlsprobe/config.yaml
    {{- end }}
    {{- if .Values.sharded }}
    - --shard=auto/{{ .Values.replicas }}
    {{- end }}
    - --web.listen-address=:{{ .Values.web.port }}
    {{- with .Values.web.configSecret }}
    - --web.config.file=/etc/tlsprobe-web/web.yml
    - --web.health-address=:{{ $.Values.web.healthPort }}
    {{- end }}
    {{- with .Values.web.externalUrl }}
    - --web.external-url={{ . }}
    {{- end }}
    {{- with .Values.web.routePrefix }}
    - --web.route-prefix={{ . }}
    {{- end }}
    {{- with .Values.extraArgs }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or .Values.sharded .Values.extraEnv }}
  env:
    {{- if .Values.sharded }}
    # The host's name is the node's with hostNetwork.
    - name: TLSPROBE_SHARD_INDEX
      valueFrom:
        fieldRef: {fieldPath: metadata.name}
    {{- end }}
    {{- with .Values.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  {{- with .Values.extraEnvFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  ports:
    - name: metrics
      containerPort: {{ .Values.web.port }}
    {{- if .Values.web.configSecret }}
    - name: health
      containerPort: {{ .Values.web.healthPort }}
    {{- end }}
  {{- $prefix := ternary "" (include "tlsprobe.prefix" .) (ne .Values.web.configSecret "") }}
  {{- $port := ternary "health" "metrics" (ne .Values.web.configSecret "") }}
  {{- range $key, $page := dict "livenessProbe" "healthy" "readinessProbe" "ready" }}
  {{- $probe := index $.Values $key }}
  {{- if $probe.enabled }}
  {{ $key }}:
    httpGet:
      path: {{ $prefix }}/-/{{ $page }}
      port: {{ $port }}
    {{- toYaml (omit $probe "enabled") | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- with .Values.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "tlsprobe.mounts" . }}
  volumeMounts:
    {{- . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "tlsprobe.mounts" -}}
{{- if include "tlsprobe.hasConfig" . }}
- name: config
  mountPath: /etc/tlsprobe
  readOnly: true
{{- end }}
{{- if .Values.web.configSecret }}
- name: web
  mountPath: /etc/tlsprobe-web
  readOnly: true
{{- end }}
{{- if .Values.persistence.enabled }}
- name: state
  mountPath: /var/lib/tlsprobe
{{- end }}
{{- range concat .Values.extraConfigmapMounts .Values.extraSecretMounts }}
- name: {{ .name }}
  mountPath: {{ .mountPath }}
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "tlsprobe.volumes" -}}
{{- if include "tlsprobe.hasConfig" . }}
- name: config
  {{- if or .Values.existingSecret (and .Values.secretConfig (not .Values.existingConfigMap)) }}
  secret:
    secretName: {{ default (include "tlsprobe.fullname" .) .Values.existingSecret }}
  {{- else }}
  configMap:
    name: {{ default (include "tlsprobe.fullname" .) .Values.existingConfigMap }}
  {{- end }}
{{- end }}
{{- with .Values.web.configSecret }}
- name: web
  secret:
    secretName: {{ . }}
{{- end }}
{{- if and .Values.persistence.enabled (eq .Values.kind "Deployment") }}
- name: state
  persistentVolumeClaim:
    claimName: {{ default (include "tlsprobe.fullname" .) .Values.persistence.existingClaim }}
{{- end }}
{{- range .Values.extraConfigmapMounts }}
- name: {{ .name }}
  configMap:
    name: {{ .name }}
    {{- with omit . "name" "mountPath" }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- range .Values.extraSecretMounts }}
- name: {{ .name }}
  secret:
    secretName: {{ .name }}
    {{- with omit . "name" "mountPath" }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
