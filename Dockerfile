# syntax=docker/dockerfile:1

# Everything that compiling needs.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build

# What running needs: no compilers, no tests, no embedded servers, and no second Node. With the packages of
# development out of the manifest, npm also leaves out what only they make of optional peers, such as the whole of
# Prisma's tools; the versions are still those of the lock. Of Prisma's query compilers one is used.
FROM node:24-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm pkg delete devDependencies optionalDependencies && npm install --omit=dev \
  && find node_modules/@prisma/client/runtime -name 'query_compiler_*' ! -name '*postgresql*' -delete

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
# Keeps tasks apart, where the container may make user namespaces.
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY --from=build /app/dist/libs ./dist/libs
COPY --from=build /app/dist/apps ./dist/apps
COPY --from=build /app/dist/programs ./dist/programs
COPY --from=build /app/dist/dashboard ./dist/dashboard
COPY package.json ./
COPY prisma ./prisma
RUN mkdir -p /data && chown node:node /data
USER node
EXPOSE 3000
VOLUME /data
# For the server. A container with another program names its own, or none.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/apps/server/main.js"]
