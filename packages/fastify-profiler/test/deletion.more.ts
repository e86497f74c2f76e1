import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { makeFolder } from './folder.ts'
import { optionalFeatures } from './optional-features.ts'

const folder = dirname(dirname(import.meta.dirname))
const index = join(folder, 'features/index.ts')
const base = '/_profiler'

// Each profiler below is a copy of its own, with its own listener for the exit.
process.setMaxListeners(2 * Object.keys(optionalFeatures).length)

/** The list of features without one of them. */
function indexWithout(feature: string): string {
  const statements = new RegExp(`^(?:import|export)[^;]*? from '\\./${feature}/[^']*'\\n`, 'gm')
  const entry = new RegExp(`^ {2}\\{(?:\\n {4}| )name: '${feature}',(?:.*\\},|[^]*?\\n {2}\\},)\\n`, 'm')
  const lines = readFileSync(index, 'utf8').split(/(?<='\n)/)
  return lines
    .map(text => text.replace(statements, ''))
    .join('')
    .replace(entry, '')
}

function isDeleted(file: string, feature: string): boolean {
  const entry = optionalFeatures[feature] ?? null
  return file.startsWith(join(folder, 'features', feature) + '/') || (entry !== null && file === join(folder, entry))
}

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(folder, 'tsconfig.json'), file => readFileSync(file, 'utf8')).config,
  ts.sys,
  folder,
)
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(name => /^(?!(?:bench|dist|test|examples|node_modules)\/).*\.ts$/.test(name))
  .map(name => join(folder, name))
const parsed = new Map<string, ts.SourceFile | undefined>()

/** What the compiler says about the package without a feature. Files that stay are parsed once for all. */
function typeErrors(feature: string): string[] {
  const host = ts.createCompilerHost({ ...options, noEmit: true })
  const { fileExists, getSourceFile } = host
  host.fileExists = file => !isDeleted(file, feature) && fileExists(file)
  host.getSourceFile = (file, how) => {
    if (file === index) return ts.createSourceFile(file, indexWithout(feature), how)
    if (!parsed.has(file)) parsed.set(file, getSourceFile(file, how))
    return parsed.get(file)
  }
  const rootNames = sources.filter(file => !isDeleted(file, feature))
  const program = ts.createProgram({ rootNames, options: { ...options, noEmit: true }, host })
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
}

/** An application with the bundled profiler without a feature. */
async function applicationWithout(feature: string, t: Test): Promise<FastifyInstance> {
  // Inside the package, whose package.json says where the assets are.
  const outdir = mkdtempSync(join(folder, 'dist/without-'))
  t.teardown(() => rmSync(outdir, { recursive: true, force: true }))
  await build({
    entryPoints: [join(folder, 'index.ts')],
    outdir,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    plugins: [
      {
        name: 'without',
        setup({ onLoad }) {
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            if (path === index) return { contents: indexWithout(feature), loader: 'ts' }
            return isDeleted(path, feature) ? { errors: [{ text: `${path} is imported` }] } : null
          })
        },
      },
    ],
  })
  const { default: profiler } = await import(join(outdir, 'index.js'))
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(profiler, { directory: makeFolder() })
  app.register(async function shop(shop) {
    shop.get('/carts/:id', async request => {
      request.log.warn('The cart is old')
      return { id: request.params }
    })
  })
  app.get('/page', async (_request, reply) => reply.type('text/html').send('<html><body>A page</body></html>'))
  app.get('/failing', async () => {
    throw new Error('planned')
  })
  app.post('/orders', async () => 'ordered')
  return app
}

interface Target {
  method: 'GET' | 'POST'
  url: string
}

/** Where the links and forms of a page lead, and the toolbar in it. */
function targetsIn(page: string): Target[] {
  const text = (html = '') => html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
  const links = [...page.matchAll(/<(?:a|link)\b[^>]*? href="([^"]*)"/g)].map(([, url]) => text(url))
  const forms = [...page.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, attributes = '', inside = '']): Target => {
    const [, action] = / action="([^"]*)"/.exec(attributes) ?? []
    if (attributes.includes('method="post"')) return { method: 'POST', url: text(action) }
    const [, id] = / id="([^"]*)"/.exec(attributes) ?? []
    const ticks =
      id === undefined ? [] : [...page.matchAll(new RegExp(`<input[^>]* form="${id}"[^>]*>`, 'g'))].slice(0, 2)
    const query = new URLSearchParams()
    for (const [input] of [...inside.matchAll(/<input[^>]*>/g), ...ticks]) {
      const [, name] = / name="([^"]*)"/.exec(input) ?? []
      const [, value = ''] = / value="([^"]*)"/.exec(input) ?? []
      if (name !== undefined) query.append(name, text(value))
    }
    return { method: 'GET', url: `${text(action)}?${query}` }
  })
  const [, attribute] = / data-profiler="([^"]*)"/.exec(page) ?? []
  const toolbar = attribute === undefined ? null : JSON.parse(text(attribute))
  const items: Target[] = (toolbar?.items ?? []).map(({ url }: Target) => ({ method: 'GET', url }))
  const report: Target[] = toolbar?.report ? [{ method: 'POST', url: toolbar.report }] : []
  return [...links.map((url): Target => ({ method: 'GET', url })), ...forms, ...items, ...report]
}

/** Pages that differ only in the profile, or in what is searched for, are alike. */
function kindOf({ method, url }: Target): string {
  const [path = '', query = ''] = url.replace(/#.*/s, '').split('?')
  const names = [...new URLSearchParams(query)].map(([name, value]) => (name === 'panel' ? value : name))
  return `${method} ${path.replace(/\/(?=[\w-]{12}(?:\/|$))[\w-]*[^a-z/][\w-]*/g, '/:token')} ${names.sort().join()}`
}

/** Follows every link and form from the profiler's home on. @returns those that lead nowhere */
async function deadEnds(app: FastifyInstance): Promise<{ dead: string[]; seen: number }> {
  const document = { accept: 'text/html', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' }
  const left: Target[] = [
    { method: 'GET', url: '/page' },
    { method: 'GET', url: `${base}/` },
  ]
  const known = new Set<string>()
  const dead: string[] = []
  for (let target = left.shift(); target !== undefined; target = left.shift()) {
    if (known.has(kindOf(target))) continue
    known.add(kindOf(target))
    const { body, headers, statusCode } = await app.inject({ ...target, headers: document })
    if (statusCode === 404 || statusCode >= 500) dead.push(`${target.method} ${target.url}: ${statusCode}`)
    const next = targetsIn(body)
    if (typeof headers.location === 'string') next.push({ method: 'GET', url: headers.location })
    left.push(...next.filter(({ url }) => url.startsWith(base)))
  }
  return { dead, seen: known.size }
}

for (const feature of Object.keys(optionalFeatures)) {
  t.test(
    `the profiler without ${feature} has valid types, and no link or form of its pages leads nowhere`,
    { timeout: 300_000 },
    async t => {
      t.notOk(indexWithout(feature).includes(`/${feature}/`))
      t.same(typeErrors(feature), [])
      const app = await applicationWithout(feature, t)
      const urls = ['/carts/1', '/carts/2', '/failing', '/nowhere', '/page']
      for (const url of urls) await app.inject({ url, headers: { accept: 'text/html' } })
      await app.inject({ method: 'POST', url: '/orders', payload: { cart: 1 } })
      const { dead, seen } = await deadEnds(app)
      t.same(dead, [])
      t.ok(seen > 30, `${seen} pages`)
    },
  )
}
