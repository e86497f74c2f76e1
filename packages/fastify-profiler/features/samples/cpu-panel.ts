import type { FastifyInstance } from 'fastify'
import { originalLocation } from '../../core/call-site.ts'
import type { BuiltInPanel, ViewContext } from '../../core/panel.ts'
import { type Block, type Blocks, emptyBlocks, type Inline } from '../../core/view/block.ts'
import { lineText } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { isSameOrigin } from '../../core/view/page-guard.ts'
import type { PageSources, Question } from '../../core/feature.ts'
import {
  alignNumber,
  count as counted,
  cut,
  formatBytes,
  formatDuration,
  formatNumber,
  formatShare,
  renderClock,
} from '../../core/view/units.ts'
import { profileUrl, urlPart } from '../../core/urls.ts'
import { sendMissing, sendUnknown } from '../home/not-found-page.ts'
import { findProfile, missingProfile, refusal } from '../home/question.ts'
import { percent } from '../performance/waterfall.ts'
import {
  type CallCell,
  type CallCells,
  type CallNode,
  garbageCollection,
  outermostCalls,
  zoomedCells,
} from './call-tree.ts'
import { type FunctionUse, isSampleKind, type NotSampled, type OtherRequests, type Samples } from './samples.ts'
import { arm, armedTo, isRawSamples } from './sampling.ts'

/** Where the samples of a request are, and by POST, where the next request to its route is armed. */
function samplesUrl(base: string, token: string): string {
  return `${base}/${urlPart(token)}/samples`
}

const rowHeight = 20

/** A narrower cell has no room for a name. */
const namedFrom = 0.02

function functionName(name: string): string {
  return name === '' ? '(anonymous)' : name
}

/**
 * Calls as cells: each is as wide as its share, and lies below the function that calls it. Readable without script.
 * @param zoom where a cell leads, up to its number; null in a file
 */
function renderIcicle({ cells, dropped, rows }: CallCells, label: string, root: string, zoom: string | null): Markup {
  return html`<ul class="legend row"><li><span class="kind own"></span>your code</li><li><span class="kind module"></span>libraries</li><li><span class="kind node"></span>Node and V8</li></ul>
<svg class="icicle" role="group" aria-label="${label}" width="100%" height="${rows * rowHeight}">${cells.map((cell, number) => renderCell(cell, placeOf(cell.call, root), zoom && `${zoom}${number}`))}
</svg>
${dropped > 0 && html`<p class="muted">${dropped} more calls are not drawn: those of libraries that only pass on, and what is narrower than 0.3%, or beyond 1,000 cells or 60 rows.</p>`}`
}

/** A cell is an image of its own, which cuts a name that is too long. */
function renderCell({ call, row, share, start }: CallCell, place: string, zoomed: string | null): Markup {
  const name = call.function || place || functionName('')
  const cell = html`
<svg x="${percent(start, 1)}" y="${row * rowHeight}" width="${percent(share, 1)}" height="${rowHeight - 1}"><title>${name} ${place} ${formatShare(share, 1)}</title><rect class="${call.kind}" width="100%" height="100%"/>${share >= namedFrom && html`<text x="4" y="14">${name}</text>`}</svg>`
  if (zoomed === null || call.children.length === 0) return cell
  return html`<a href="${zoomed}" aria-label="${name} ${place} ${formatShare(share, 1)}">${cell}</a>`
}

function placeOf({ kind, location }: CallNode, root: string): string {
  if (location === null) return ''
  return lineText(kind === 'own' ? originalLocation(location) : location, root)
}

const longestLine = 160

type Measured = Pick<Samples, 'kind' | 'total'>

function functionTable(title: string, uses: readonly FunctionUse[], { kind, total }: Measured): Block {
  return {
    title,
    lines: 'calls',
    columns: [
      { label: 'Function' },
      { label: 'Line', kind: 'text' },
      { label: kind === 'cpu' ? 'ms' : 'kB', kind: 'number' },
      { label: 'Share', kind: 'number' },
    ],
    rows: uses.map(({ amount, caller, function: name, location, source }) => [
      { code: functionName(name) },
      [
        location === null ? null : { place: location },
        caller === undefined
          ? null
          : [location && ' ', 'called by ', { code: functionName(caller.function) }, ' ', { place: caller.location }],
        source === undefined ? null : [' ', { small: { code: cut(source, longestLine) } }],
      ],
      alignNumber(kind === 'cpu' ? amount : amount / 1000),
      formatShare(amount, total),
    ]),
  }
}

function sampleForms({ base, isFile, profile }: ViewContext): Block | null {
  if (isFile === true) return null
  const { method, routing, token } = profile
  const { matched } = routing
  const armed = matched === null ? null : armedTo(method, matched.url)
  const form = html`<section aria-labelledby="sample"><h2 id="sample">Sample a request</h2>
${armed !== null && html`<p class="notice">The next request to <code>${method} ${matched?.url}</code> is sampled for its ${armed.kind === 'cpu' ? 'use of the CPU' : 'allocations'}, if it comes before ${renderClock(armed.until)}.</p>`}
<p>Send it with the header <code>X-Profile: cpu</code> or <code>X-Profile: allocations</code>${matched === null ? '.' : ', or sample the next one:'}</p>
${matched !== null && html`<form class="chips" method="post" action="${samplesUrl(base, token)}"><button name="kind" value="cpu">Profile the CPU of the next request to this route</button><button name="kind" value="allocations">Profile the allocations of the next request to this route</button></form>`}</section>`
  return { html: form, markdown: '' }
}

export const cpuPanel: BuiltInPanel<Samples | NotSampled> = {
  name: 'cpu',
  label: 'CPU',
  read: ({ samples }) => samples ?? null,
  badge(samples) {
    if ('why' in samples) return { text: 'no samples', tone: 'warning' }
    // The panel's label is that of the CPU.
    return { text: `${samples.kind === 'cpu' ? '' : 'allocations: '}${totalText(samples)}`, tone: 'neutral' }
  },
  view: (samples, context) => [
    ...('why' in samples ? [{ notice: samples.why, tone: 'warning' } as const] : samplesBlocks(samples, context)),
    sampleForms(context),
  ],
  empty: context => [
    ...emptyBlocks('This request was not sampled. Samples show which functions use the CPU, or allocate memory.'),
    sampleForms(context),
  ],
}

function samplesBlocks(samples: Samples, context: ViewContext): Blocks {
  const { charged, hot, others } = samples
  return [
    { text: headline(samples, context.root), look: 'headline' },
    { text: howSampled(samples), look: 'muted' },
    others.count > 0 && { notice: othersText(others, context.base) },
    picture(samples, context),
    {
      section: ['Hot lines ', { small: 'without what they call' }],
      blocks: [functionTable('Hot lines', hot, samples)],
    },
    charged.length > 0 && {
      section: ['Your code ', { small: 'with what it calls in libraries and Node' }],
      blocks: [functionTable('Your code', charged, samples)],
    },
  ]
}

function picture({ kind, unstored }: Samples, context: ViewContext): Block | null {
  const { base, isFile, profile, query, readSamples, root } = context
  if (unstored !== null) return { notice: unstored }
  const text = readSamples?.() ?? null
  const raw: unknown = text === null ? null : JSON.parse(text)
  if (!isRawSamples(raw)) return null
  const file = kind === 'cpu' ? '.cpuprofile' : '.heapprofile'
  const [zoom = ''] = /^[\d.]{1,200}$/.exec(query?.get('zoom') ?? '') ?? []
  const whole = profileUrl(base, profile.token, 'cpu')
  const icicle = renderIcicle(
    zoomedCells(outermostCalls(raw), zoom),
    'Calls by their share. The tables below have the largest.',
    root,
    isFile === true ? null : `${whole}&zoom=${zoom && `${zoom}.`}`,
  )
  return {
    html: html`<section aria-labelledby="calls"><div class="head"><h2 id="calls">Calls <small>each above those that it calls, as wide as its share</small></h2>${zoom !== '' && html`<a href="${whole}">All calls</a>`}${isFile !== true && html`<a class="right" href="${samplesUrl(base, profile.token)}">Download ${file}</a>`}</div>
${icicle}</section>`,
    markdown: '',
  }
}

function headline(samples: Samples, root: string): string {
  const { hot, kind, total } = samples
  const [first] = hot
  const what = kind === 'cpu' ? 'on the CPU' : 'allocated'
  const did = kind === 'cpu' ? 'used the CPU' : 'allocated'
  if (first === undefined) return `No samples: the request ${did} too little to be seen.`
  const by = first.caller === undefined ? '' : `, called by ${functionName(first.caller.function)}`
  const place = first.location === null ? '' : ` (${lineText(first.location, root)})`
  return `${functionName(first.function)}${place}${by}: ${formatShare(first.amount, total)} of ${totalText(samples)} ${what}.`
}

function howSampled({ duration, external, hot, interval, kind, total }: Samples): string {
  const each = kind === 'cpu' ? `${formatNumber(interval)} µs` : formatBytes(interval)
  const collected = hot.find(({ function: name }) => name === garbageCollection)
  const share = collected === undefined ? '' : ` Garbage collection took ${formatShare(collected.amount, total)}.`
  const outside =
    external === undefined
      ? ''
      : ` Memory outside the heap, such as that of buffers, grew by ${formatBytes(external)}: it is not sampled.`
  return `Sampled about every ${each} for ${formatDuration(duration)}.${share}${outside}`
}

function totalText({ kind, total }: Samples): string {
  return kind === 'cpu' ? formatDuration(total) : formatBytes(total)
}

function othersText({ count, tokens }: OtherRequests, base: string): Inline {
  const more = count - tokens.length
  return [
    `${counted(count, 'other request')} ran meanwhile; their samples are in here.`,
    tokens.map(token => [' ', { link: token, to: profileUrl(base, token) }]),
    more > 0 ? ` and ${more} more` : null,
  ]
}

/** The samples of a request as a file, and the form that has the next request to its route sampled. */
export function samplesRoutes(app: FastifyInstance, sources: PageSources): void {
  const { archive, base, viewContext } = sources

  app.get<{ Params: { token: string } }>(`${base}/:token/samples`, async function sendSamples(request, reply) {
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const text = viewContext(profile).readSamples?.() ?? null
    if (text === null) {
      const why = `Request ${profile.token} has no samples.`
      return sendMissing(request, reply, { what: 'part', why, token: profile.token }, sources)
    }
    const ending = profile.samples?.kind === 'cpu' ? 'cpuprofile' : 'heapprofile'
    return reply
      .header('content-disposition', `attachment; filename="profile-${profile.token}.${ending}"`)
      .type('application/json; charset=utf-8')
      .send(text)
  })

  app.post<{ Params: { token: string } }>(`${base}/:token/samples`, async function armRoute(request, reply) {
    if (!isSameOrigin(request.raw)) return reply.code(403).type('text/plain').send('Sent by another site.\n')
    const profile = await archive.find(request.params.token)
    if (profile === null) return sendUnknown(request, reply, request.params.token, sources)
    const kind = new URLSearchParams(String(request.body)).get('kind')
    const { matched } = profile.routing
    if (!isSampleKind(kind) || matched === null) {
      return reply.code(400).type('text/plain').send('Nothing to sample: name a kind, of a request with a route.\n')
    }
    arm(profile.method, matched.url, kind)
    return reply.redirect(profileUrl(base, profile.token, 'cpu'), 303)
  })
}

/** What the form does, for agents and the command line. */
export const sampleQuestion: Question = {
  name: 'sample',
  acts: true,
  title: 'Sample the CPU',
  description:
    'Call when a request is slow without slow calls, or allocates much: the next request to its route is sampled, ' +
    'within five minutes. Send it again, or call replay. Then the panel cpu of the new profile names the hot lines.',
  parameters: {
    token: { type: 'string', description: 'The token of a request to the route, or "latest".' },
    kind: { type: 'string', description: 'Default: cpu.', enum: ['cpu', 'allocations'] },
  },
  required: ['token'],
  command: { name: 'sample', takes: '<token>', says: 'samples the CPU in the next request to the route' },
  async answer(asked, sources) {
    if (sources.app === null) return refusal('Requests are sampled by the running application.')
    const profile = await findProfile(asked.text('token') ?? '', sources)
    if (profile === null) return missingProfile('token', asked, sources)
    const { matched } = profile.routing
    const kind = asked.text('kind') ?? 'cpu'
    if (matched === null || !isSampleKind(kind)) {
      return refusal('This request has no route, so there is nothing to sample.')
    }
    arm(profile.method, matched.url, kind)
    const text =
      'The next request to the route of this one is sampled. Send it, then ask for the panel cpu of its profile.'
    return { text, data: { method: profile.method, route: matched.url, kind } }
  },
}
