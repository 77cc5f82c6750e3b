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
CMD ["node", "dist/apps/server/main.js"]
