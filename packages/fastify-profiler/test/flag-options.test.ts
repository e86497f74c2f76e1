import t from 'tap'
import { environmentOptions } from '../options.ts'
import { makeFolder } from './folder.ts'

const senseless: ReadonlyArray<[name: string, value: string, sentence: RegExp]> = [
  ['BASE', 'profiler', /^FASTIFY_PROFILER_BASE must be a path such as "\/_profiler", not "profiler"\.$/],
  ['ALLOW', '10.0.0.0/8,friends', /^FASTIFY_PROFILER_ALLOW takes IP addresses and networks, not "friends"\.$/],
  ['PATIENCE', '-1', /^FASTIFY_PROFILER_PATIENCE must be from 0 to 2147483647 milliseconds, not -1\.$/],
  ['ALLOW_LOOPBACK', 'never', /^FASTIFY_PROFILER_ALLOW_LOOPBACK must be true or false, not "never"\.$/],
  ['PATIENCE', 'long', /^FASTIFY_PROFILER_PATIENCE must be a number, not "long"\.$/],
  ['LINK_ORIGIN', 'example.org', /^FASTIFY_PROFILER_LINK_ORIGIN must be an origin such as/],
  ['EDITOR_URL', 'vim', /^FASTIFY_PROFILER_EDITOR_URL must be a pattern such as/],
  ['STORE_BOUNDS_BYTES', '0', /^FASTIFY_PROFILER_STORE_BOUNDS_BYTES must be at least 1, not 0\.$/],
  ['PROFILE_BOUNDS_TEXT', '-1', /^FASTIFY_PROFILER_PROFILE_BOUNDS_TEXT must be at least 1, not -1\.$/],
  ['DIRECTROY', 'here', /^FASTIFY_PROFILER_DIRECTROY is not an option\. The options are FASTIFY_PROFILER_BASE, /],
]

t.test('a senseless variable is refused with its name, its value and what it takes', async t => {
  const folder = makeFolder({ 'package.json': '{}' })
  for (const [name, value, message] of senseless) {
    t.throws(() => environmentOptions({ [`FASTIFY_PROFILER_${name}`]: value }, folder), { message })
  }
})

t.test('a senseless option in package.json is refused with its name, its value and what it takes', async t => {
  for (const [content, message] of [
    ['{ "patience": [] }', /^"patience" under "fastify-profiler" in .*package\.json must be a number, not \[\]\.$/],
    ['{ "storeBounds": { "byte": 1 } }', /^"storeBounds\.byte" under .* is not an option\./],
    ['"on"', /^"fastify-profiler" in .*package\.json must be an object, not "on"\.$/],
    ['{ "secrets": [1] }', /must be text, not 1\.$/],
  ] as const) {
    const folder = makeFolder({ 'package.json': `{ "fastify-profiler": ${content} }` })
    t.throws(() => environmentOptions({}, folder), { message })
  }
})
