# Build it in this folder:
#   docker build --build-arg VERSION=... --build-arg REVISION="$(git rev-parse HEAD)" -t tls-resumption-exporter .
#
# Debian 13, whose OpenSSL is 3.5. A tag moves, so a release resolves it once and builds with the digest:
#   --build-arg PYTHON_IMAGE=python:3.13-slim-trixie@sha256:...
ARG PYTHON_IMAGE=python:3.13-slim-trixie

FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
# Times that end up in files are those of this second, whenever it is built.
ENV SOURCE_DATE_EPOCH=1767225600 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_NO_COMPILE=1 \
    PIP_NO_INPUT=1
COPY requirements/image.txt requirements/image-build.txt requirements/
# Wheels alone, each of which must have a hash that the lock knows.
RUN python -m venv --without-pip /opt/tlsprobe \
 && python -m venv --without-pip /opt/build \
 && pip --python /opt/tlsprobe/bin/python install --no-deps --only-binary :all: --require-hashes -r requirements/image.txt \
 && pip --python /opt/build/bin/python install --no-deps --only-binary :all: --require-hashes -r requirements/image-build.txt
COPY pyproject.toml README.md LICENSE ./
COPY exporter exporter
ARG REVISION=unknown
# What `tlsprobe --version` tells as the commit; the source of a release knows its own.
RUN [ "${REVISION}" = unknown ] || echo "${REVISION}" > exporter/revision.txt
# Byte code is made here, since it cannot be at run time, and without times, so that it is the same each time.
RUN pip --python /opt/build/bin/python wheel --no-deps --no-index --no-build-isolation --wheel-dir /opt/wheels . \
 && pip --python /opt/tlsprobe/bin/python install --no-deps --no-index /opt/wheels/tls_resumption_exporter-*.whl \
 && python -m compileall -q --invalidation-mode unchecked-hash /opt/tlsprobe/lib \
 && mkdir -p /opt/state/tlsprobe

FROM ${PYTHON_IMAGE}
ARG VERSION=0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="tls-resumption-exporter" \
      org.opencontainers.image.description="Prometheus exporter that probes TLS endpoints: handshake cost, session resumption, ticket keys" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /opt/tlsprobe /opt/tlsprobe
# For the state file, should a volume be mounted here.
COPY --from=build --chown=65532:65532 /opt/state /var/lib
ENV PATH=/opt/tlsprobe/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1
# By number, so that Kubernetes can see that it is not root.
USER 65532:65532
EXPOSE 10507
HEALTHCHECK --interval=60s --timeout=5s --start-period=10s CMD ["/opt/tlsprobe/bin/tlsprobe", "health"]
ENTRYPOINT ["/opt/tlsprobe/bin/tlsprobe"]
# Without a configuration the built-in reference is probed; with one: run --config /etc/tlsprobe/config.yaml
CMD ["run"]
