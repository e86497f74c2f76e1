# One Portico server. compose.yaml runs two of them with PostgreSQL and a proxy. By itself, with the embedded database:
#   docker build --tag portico .
#   docker run --publish 3000:3000 --volume portico:/data --env DATABASE_URL=embedded --env COOKIE_SECRET=… \
#     --stop-timeout 30 portico

FROM node:22-slim AS build
WORKDIR /portico
COPY package.json package-lock.json build.js ./
COPY packages/fastify-profiler/package.json packages/fastify-profiler/
COPY bench/package.json bench/
RUN npm ci --omit=dev
COPY app.ts index.ts server.ts testing.ts ./
COPY cli cli
COPY packages packages
COPY plugins plugins
COPY routes routes
COPY src src
RUN npm run build

# Without npm's cache. The sources are for error pages, which show the lines that threw.
FROM node:22-slim
COPY --from=build /portico /portico
WORKDIR /portico
RUN install --directory --owner=node --mode=700 /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Not npm, which would not pass on every signal.
CMD ["node", "--enable-source-maps", "dist/server.js"]
