import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import type { Profile } from '../core/profile.ts'
import { jsonText, terminalOf } from '../features/command-line/terminal.ts'
import { summaryLine } from '../features/command-line/commands.ts'
import { makeFolder } from './folder.ts'
import { storeProfiles } from './stores.ts'
import { command, folderOf } from './typed-command.ts'
import { profile, summary } from './views/example-profile.ts'

const said = (reason: string) => `fastify-profiler: ${reason}\n`

/** What is typed in a folder with three profiles and no application, and what is answered. */
const commands: Record<string, ReadonlyArray<[typed: string, answer: object]>> = {
  'without a running application the answers come from its files': [
    ['overview', { code: 0, output: /^# 3 requests in the last 15 minutes: 1 failed/ }],
    ['show failed', { code: 0, output: /^# Profile failed: 500 .*MuseumError/s }],
    ['show failed logs', { code: 0, output: /## Panel logs/ }],
    ['show failed --panel logs', { output: /## Panel logs/ }],
    ['compare since', { code: 0, output: /48\.0 ms → .*6\.00 ms/ }],
    ['compare before since', { code: 0, output: /48\.0 ms → .*6\.00 ms/ }],
    ['routes', { code: 0, output: /^# \d+ routes?/ }],
    ['routes nowhere', { code: 0, output: /^# 0 routes of/ }],
    ['curl failed', { code: 0, output: /^curl 'http:\/\/louvre\.example\/museums\/7'/ }],
  ],
  'a list has one line a request, newest first': [
    [
      'list',
      { output: /^failed 500 {3}48\.2 ms .*GET \/museums\/7 {2}MuseumError: .*\nsince 200 .*\nbefore 200 .*\n$/ },
    ],
    ['list status:5xx museums', { output: /^failed [^\n]*\n$/ }],
    ['list --sort duration', { output: /^failed .*\nbefore .*\nsince / }],
    ['list --max-tokens 500 --page 1', { output: /^failed .*\nsince .*\nbefore .*\n$/ }],
    ['list --sort up', { code: 1, errors: /must be one of/ }],
  ],
  'a command that has no answer says why on stderr, with exit code 1': [
    ['show gone', { code: 1, output: '', errors: /^No profile has this token/ }],
    ['explain failed 1', { code: 1, errors: /running application/ }],
    ['explain failed x', { code: 1, errors: /query must be a whole number/ }],
    ['curl gone', { code: 1, errors: /^No profile has this token/ }],
    ['list status:9xx GET', { code: 1, output: '', errors: /^status takes 404, 4xx, >=400 or none\.\n$/ }],
    ['list slower:abc sql:x', { code: 1, output: '', errors: /^sql takes .* slower takes milliseconds/ }],
    ['list --page x', { code: 1, errors: /page must be a whole number/ }],
  ],
  'a command that is not understood is answered with what was meant, and exit code 2': [
    ['lst', { code: 2, errors: said('There is no command of this name. Did you mean list?') }],
    // Nearer than init.
    ['lit', { code: 2, errors: /Did you mean list\?/ }],
    ['toString', { code: 2, errors: /See fastify-profiler --help\.\n$/ }],
    ['list --jsn', { code: 2, errors: /Unknown option '--jsn'\. Did you mean --json\?\n$/ }],
    ['list --max_tokens 4000', { code: 2, errors: /Did you mean --max-tokens\?/ }],
    ['list --page', { code: 2, errors: /argument missing\. See fastify-profiler --help/ }],
    [
      'list --page -1',
      { code: 2, errors: said("Option '--page' argument is ambiguous. See fastify-profiler --help.") },
    ],
    ['list --\x1b[2J', { code: 2, output: '', errors: said("Unknown option '--␛[2J'. See fastify-profiler --help.") }],
    ['list --url ', { code: 2, errors: said('--url is empty.') }],
    ['list --directory=', { code: 2, errors: said('--directory is empty.') }],
  ],
  'a command with too few or too many operands is answered with those that it takes, and exit code 2': [
    ['show', { code: 2, output: '', errors: said('show takes <token> [panel].') }],
    ['profile a b c', { code: 2, errors: said('profile takes <token> [panel].') }],
    ['curl', { code: 2, errors: said('curl takes <token>.') }],
    ['curl a b', { code: 2, errors: said('curl takes <token>.') }],
    ['explain a', { code: 2, errors: said('explain takes <token> <query>.') }],
    ['compare a b c', { code: 2, errors: said('compare takes [<a>] <b>.') }],
    ['overview extra', { code: 2, errors: said('overview takes no operands.') }],
    ['tail extra', { code: 2, errors: said('tail takes no operands.') }],
    ['mcp extra', { code: 2, errors: said('mcp takes no operands.') }],
  ],
  'an option that a command does not take is refused by its name, with exit code 2': [
    ['list --from 3', { code: 2, output: '', errors: said('list does not take --from.') }],
    ['show k3Jx9PzQ4wTn --page 2', { code: 2, errors: said('show does not take --page.') }],
    ['tail --max-tokens 600', { code: 2, errors: said('tail does not take --max-tokens.') }],
    ['compare a b --minutes 5', { code: 2, errors: said('compare does not take --minutes.') }],
    ['curl a --json', { code: 2, errors: said('curl does not take --json.') }],
    ['mcp --sort slowest', { code: 2, errors: said('mcp does not take --sort.') }],
    ['init --panel logs', { code: 2, errors: said('init does not take --panel.') }],
    ['overview --yes', { code: 2, errors: said('overview does not take --yes.') }],
  ],
}

for (const [title, cases] of Object.entries(commands)) {
  t.test(title, async t => {
    const folder = folderOf()
    for (const [typed, answer] of cases) t.match(await command(folder, typed.split(' ')), answer, typed)
  })
}

t.test('with --json a command prints the data', async t => {
  const folder = folderOf()
  for (const [typed, data] of [
    ['list --json', { total: 3, profiles: [{ token: 'failed' }] }],
    ['show failed --json', { status: 500 }],
    ['overview --json --minutes 5', { requests: 3 }],
  ] as const) {
    t.match(JSON.parse((await command(folder, typed.split(' '))).output), data)
  }
})

t.test('a folder without profiles, and an option that is not one, are told', async t => {
  const folder = makeFolder()
  t.match(await command(folder, ['list']), { code: 1, errors: /There are no profiles in .*--url\.\n$/ })
  t.match(await command(folder, ['tail']), { code: 1, errors: /No application is known/ })
  const env = { FASTIFY_PROFILER_DIRECTRY: 'x' }
  t.match(await command(folder, ['list'], { env }), { code: 2, errors: /FASTIFY_PROFILER_DIRECTRY is not an option/ })
  const nothing = await command(folder, ['mcp'], { typed: call('overview') })
  t.match(JSON.parse(nothing.output), { result: { isError: true, content: [{ text: /There are no profiles in/ }] } })
})

function folderWith(profiles: readonly Profile[]): string {
  const folder = makeFolder()
  storeProfiles(join(folder, '.profiler'), profiles)
  return folder
}

t.test('a page of a list has 20 requests, however long the answer may be, and says how to see the next', async t => {
  const profiles = Array.from({ length: 30 }, (_, index) => profile({ token: `t${index}`, time: Date.now() - index }))
  const folder = folderWith(profiles)
  t.match((await command(folder, ['list'])).output, /Page 1 of 2: --page 2 has the next\.\n$/)
  for (const limit of ['500', '50000']) {
    const screen = await command(folder, ['list', '--max-tokens', limit])
    t.equal(screen.output.match(/GET/g)?.length, 20)
    const data = JSON.parse((await command(folder, ['list', '--json', '--max-tokens', limit])).output)
    t.match(data, { pages: 2, total: 30, profiles: { length: 20 } })
  }
  const { output } = await command(folder, ['list', '--max-tokens', '50000'], { isScreen: false })
  t.equal(output.match(/GET/g)?.length, 20)
  t.match(output, '1 more page: `search {"max_tokens":50000,"page":2}`')
})

t.test('a screen has tables of columns and the commands to type next, and a pipe has Markdown', async t => {
  const folder = folderOf()
  const screen = await command(folder, ['show', 'failed'])
  t.match(screen.output, 'fastify-profiler show failed …')
  t.match(screen.output, /^Name +Time +Share +Called from$/m)
  t.notMatch(screen.output, /^\||^`{3}|\{"token"/m)
  const pipe = await command(folder, ['show', 'failed'], { isScreen: false })
  t.match(pipe.output, '`profile {"token":"failed","panel":"…"}`')
  t.match(pipe.output, /^\| Name \| Time/m)
})

t.test('the command of a request shows the invisible characters in its URL, headers and body', async t => {
  const odd = 'a\rb\u2028c\x1b[2Jd\u009be'
  const { request } = profile()
  const folder = folderWith([
    profile({ method: 'POST', url: `/${odd}`, request: { ...request, headers: [['x-odd', odd]], body: odd } }),
  ])
  for (const isScreen of [true, false]) {
    const { errors, output } = await command(folder, ['curl', 'latest'], { isScreen })
    t.match(errors, /^fastify-profiler: Invisible characters are shown.*\.\n$/)
    t.equal(output.split('a␍b\\u{2028}c␛[2Jd\\u009be').length, 4, output)
    // eslint-disable-next-line no-control-regex -- a terminal obeys them
    t.notMatch(output, /[\0-\x09\x0b-\x1f\x7f-\x9f\u2028]/)
  }
})

t.test('JSON for a terminal has no invisible character, and says the same', async t => {
  const value = { odd: '\x1b\x7f\x9b\xad\r\u200b\u2028\u202e\u2066\ufeff\u{e0041}\ud800é日👩' }
  const text = jsonText(value)
  t.same(JSON.parse(text), value)
  t.match(text, /^[ -~é日👩]+$/u)
  t.equal(jsonText(undefined), 'null')
})

t.test('the line of a request fits the terminal, has its colours, and shows control characters', async t => {
  const long = {
    ...summary(profile()),
    url: `/\x1b[2J\n${'x'.repeat(300)}`,
    repeated: 20,
    queries: { count: 21, duration: 1 },
  }
  const line = summaryLine(long, { hasColors: false, columns: 80 })
  t.ok(line.length <= 80, line)
  t.match(line, /^k3Jx9PzQ4wTn 200 {3}24\.6 ms {2}21 queries N\+1 GET \/␛\[2J x+…$/)
  t.equal(summaryLine(long, { hasColors: false, columns: 10 }).split('\n').length, 1)
  const colored = summaryLine({ ...long, status: 500, url: '/' }, { hasColors: true, columns: 80 })
  t.match(colored, '\x1b[31m500\x1b[39m')
  const found = summaryLine({ ...long, status: null, exception: 'Error: no' }, { hasColors: false, columns: 400 })
  t.match(found, /^\S+ {3}– .*Error: no/)
})

t.test('a token that begins with hyphens is no option', async t => {
  const tokens = ['-3Jx9PzQ4wTn', '--Jx9PzQ4wTn']
  const folder = folderWith(tokens.map(token => profile({ token, time: Date.now() })))
  for (const token of tokens) {
    t.match(await command(folder, ['show', token]), { code: 0, output: `# Profile ${token}: 200 OK` })
  }
})

t.test('the names of tools are commands, since answers name them', async t => {
  const folder = folderOf()
  t.same(await command(folder, ['profile', 'failed', 'logs']), await command(folder, ['show', 'failed', 'logs']))
  t.same(await command(folder, ['search', 'status:5xx']), await command(folder, ['list', 'status:5xx']))
})

t.test('help names every command and option, and the version is that of the package', async t => {
  for (const words of [[], ['-h'], ['--help'], ['list', '--help']]) {
    t.match(await command(makeFolder(), words), { code: 0, output: /^Usage: .*list .*show .*compare .*tail .*init /s })
  }
  const { output } = await command(makeFolder(), ['--help'])
  const options = 'url directory json max-tokens page sort from minutes route at method run times kind yes'
  for (const name of options.split(' ')) t.match(output, new RegExp(`^  --${name} `, 'm'))
  t.match(await command(makeFolder(), ['--version']), { code: 0, output: /^\d+\.\d+\.\d+\n$/ })
})

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A message that asks a question. */
const call = (name: string, given: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta: meta } })

t.test('over stdio each message has an answer on a line of its own, but notifications have none', async t => {
  const odd = call('overview').replace('"2026-07-28"', '7')
  const typed = `${call('overview')}\n\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n{\n${odd}\n`
  const { code, output } = await command(folderOf(), ['mcp'], { typed })
  t.equal(code, 0)
  const [answer, refusal, other, end] = output.split('\n')
  t.match(JSON.parse(answer ?? ''), { id: 1, result: { content: [{ text: /^# 3 requests/ }] } })
  t.match(JSON.parse(refusal ?? ''), { error: { code: -32700 } })
  t.match(JSON.parse(other ?? ''), { error: { code: -32602 } })
  t.equal(end, '')
})

t.test('a stored profile that cannot be shown is an internal error over stdio, and exit code 1 otherwise', async t => {
  const broken = folderWith([{ ...profile(), notes: null } as unknown as Profile])
  const failed = await command(broken, ['mcp'], { typed: call('profile', { token: 'latest' }) })
  t.match(JSON.parse(failed.output), { id: 1, error: { code: -32603 } })
  t.match(failed.errors, /^fastify-profiler: TypeError/)
  t.match(await command(broken, ['show', 'latest']), { code: 1, errors: /^fastify-profiler: TypeError.*\n$/ })
})

const entry = { type: 'stdio', command: 'npx', args: ['fastify-profiler', 'mcp'] }

t.test('init adds the profiler to the agents of a folder, and keeps what their files have', async t => {
  const folder = makeFolder({
    'CLAUDE.md': '',
    '.cursor': { 'mcp.json': '{\n\t"mcpServers": { "other": { "url": "http://x" } },\n\t"theme": "dark"\n}' },
    '.vscode': {},
  })
  const { code, output } = await command(folder, ['init', '--yes'])
  t.equal(code, 0)
  t.equal(
    output,
    '.mcp.json has fastify-profiler now.\n.cursor/mcp.json has fastify-profiler now.\n.vscode/mcp.json has fastify-profiler now.\n',
  )
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  t.same(JSON.parse(read('.mcp.json')), { mcpServers: { 'fastify-profiler': entry } })
  t.same(JSON.parse(read('.cursor/mcp.json')), {
    mcpServers: { other: { url: 'http://x' }, 'fastify-profiler': entry },
    theme: 'dark',
  })
  t.match(read('.cursor/mcp.json'), '\n\t"theme"')
  t.same(JSON.parse(read('.vscode/mcp.json')), { servers: { 'fastify-profiler': entry } })
  t.match((await command(folder, ['init', '--yes'])).output, /^\.mcp\.json has fastify-profiler already\.\n/)
})

t.test('init leaves alone what it cannot read', async t => {
  const files = {
    '.mcp.json': '{ // a comment\n}',
    '.cursor': { 'mcp.json': '{"mcpServers":[]}' },
    '.vscode': { 'mcp.json': '[]' },
  }
  const folder = makeFolder(files)
  const { output } = await command(folder, ['init', '--yes'])
  t.match(output, '.mcp.json is no JSON object, and stays as it is.')
  t.match(output, '"mcpServers" in .cursor/mcp.json is no object, and stays as it is.')
  t.match(output, '.vscode/mcp.json is no JSON object, and stays as it is.')
  t.equal(readFileSync(join(folder, '.mcp.json'), 'utf8'), files['.mcp.json'])
})

t.test('init asks on a terminal, and refuses without one', async t => {
  const folder = makeFolder({ '.cursor': {} })
  const file = join(folder, '.cursor/mcp.json')
  t.match(await command(folder, ['init']), { code: 2, errors: /nobody to ask\. Use --yes/ })
  const refused = await command(folder, ['init'], { isInteractive: true, typed: 'n\n' })
  t.match(refused.output, /Add fastify-profiler to \.cursor\/mcp\.json\? \[y\/N\] .*stays as it is/s)
  t.notOk(existsSync(file))
  await command(folder, ['init'], { isInteractive: true, typed: 'yes\n' })
  t.ok(existsSync(file))
  t.match((await command(makeFolder(), ['init'])).output, /^No agent is known here.*"fastify-profiler": \{/s)
})

for (const [what, typed] of [
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
  ['the end of the input', ''],
] as const) {
  t.test(`init ends with ${what}, and asks and changes nothing more`, async t => {
    const folder = makeFolder({ '.cursor': {}, '.vscode': {} })
    const output = Object.assign(new PassThrough(), typed === '' ? {} : { isTTY: true })
    t.equal((await command(folder, ['init'], { isInteractive: true, typed, output })).code, 1)
    const shown = String(output.read())
    t.match(shown, 'Add fastify-profiler to .cursor/mcp.json?')
    t.notMatch(shown, '.vscode')
    t.notOk(existsSync(join(folder, '.cursor/mcp.json')))
  })
}

t.test('colours and width are those of the terminal, and a pipe has neither', async t => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const pipes = { stdin, stdout, stderr, env: {}, cwd: () => '/srv' }
  t.match(terminalOf(pipes), { folder: '/srv', isScreen: false, hasColors: false, columns: Infinity })
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80, hasColors: () => true })
  t.match(terminalOf({ ...pipes, stdout: screen }), { isInteractive: false, isScreen: true, hasColors: true })
  const keyboard = Object.assign(new PassThrough(), { isTTY: true })
  t.match(terminalOf({ ...pipes, stdin: keyboard, stdout: screen }), { isInteractive: true })
})
