# Image with the Leadline server and runner. Build: docker build -t leadline .
# Start: docker compose up, which also sets the seccomp profile that permits io_uring.

FROM node:20.19-bookworm-slim AS pages
WORKDIR /src/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY web ./
RUN npm run bundle

FROM rust:1.95-bookworm AS programs
WORKDIR /src
COPY . .
COPY --from=pages /src/web/dist web/dist
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    cargo build --release --workspace --bins --locked \
    && install -D -t /out target/release/leadline target/release/leadline-runner

FROM debian:bookworm-slim
RUN useradd --system --uid 7070 --home-dir /var/lib/leadline --shell /usr/sbin/nologin leadline \
    && install -d -o leadline -g leadline -m 0700 /var/lib/leadline
COPY --from=programs /out/ /usr/local/bin/
COPY LICENSE NOTICE /usr/share/doc/leadline/
USER leadline
# Targets must be on a volume. Do not use the image's overlay filesystem.
VOLUME /var/lib/leadline
ENV LEADLINE_DATA_DIR=/var/lib/leadline LEADLINE_LISTEN=0.0.0.0:7070
EXPOSE 7070
STOPSIGNAL SIGTERM
ENTRYPOINT ["leadline"]
CMD ["serve"]
