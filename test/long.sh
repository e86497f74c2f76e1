#!/usr/bin/env bash
# The long tier: stress, soak, the tests of Fastify and its plugins, the suite on Node 24, and the benchmarks. It also
# replaces the pictures of the READMEs. It takes about three hours and needs the npm registry, nginx, HAProxy, Chromium,
# Redis, and PostgreSQL at BENCH_DATABASE_URL.
set -uo pipefail
cd "$(dirname "$0")/.."

failed=()
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

step () {
  printf '\n== %s\n' "$*"
  local start=$SECONDS
  "$@" || failed+=("$*")
  printf 'It took %d s.\n' $((SECONDS - start))
}

on_node_24 () { PATH="$scratch/node_modules/node/bin:$PATH" "$@"; }

npm run types && node build.js test bench || exit
step node dist/test/runner/run.js long
for show in pipelined-flood fuzz restarts soak; do step npm run "show:$show"; done
step npm run pictures
step npm run -w fastify-profiler judge:suites
for bench in agents bugs compare cost live search testing truth; do step npm run -w fastify-profiler "bench:$bench"; done
step npm run bench

step npm install --no-save --prefix "$scratch" node@24
step on_node_24 npm test
step on_node_24 npm run test:more

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nThese failed:\n'
  printf '%s\n' "${failed[@]}"
  exit 1
fi
