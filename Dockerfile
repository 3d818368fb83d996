# A provider's service: the wheel and its locked dependencies, run by a user without rights.
# The root file system may be read-only: what is written goes to /shop (table, ledger, key) and /tmp.
FROM python:3.11-slim AS build
WORKDIR /source
COPY requirements/service.lock requirements/
RUN python -m venv /opt/pacas && /opt/pacas/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements/service.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir dist . && /opt/pacas/bin/pip install --no-cache-dir --no-deps dist/*.whl

FROM python:3.11-slim
COPY --from=build /opt/pacas /opt/pacas
ENV PATH=/opt/pacas/bin:$PATH PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
USER 10001:10001
WORKDIR /shop
VOLUME /shop
EXPOSE 8321
ENTRYPOINT ["pacas"]
CMD ["serve", "provider.toml", "--host", "0.0.0.0", "--tls-cert", "tls.pem", "--tls-key", "tls.key"]
