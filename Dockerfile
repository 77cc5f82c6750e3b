# syntax=docker/dockerfile:1

# Makes the package @drover/server of a clone. The package holds this file without these two stages.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run packages

FROM scratch AS package
COPY --from=build /app/dist/packages/server /

# Its dependencies, without the PostgreSQL that only `up` starts.
FROM node:24-bookworm-slim AS installed
WORKDIR /app
COPY --from=package / ./
RUN npm pkg delete optionalDependencies && npm install --omit=dev --no-package-lock

FROM node:24-bookworm-slim AS drover
# The release script names both.
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Drover" \
  org.opencontainers.image.description="A self-hosted control plane for fleets of AI agents" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION"
ENV NODE_ENV=production
# Bubblewrap keeps tasks apart, where the container may make user namespaces. Git and SSH are for work on code.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=installed /app ./
RUN mkdir -p /data && chown node:node /data
USER node
EXPOSE 3000
VOLUME /data
# For the server. A container with another program names its own, or none.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/apps/server/main.js"]
