import type { BuiltInPanel } from '../../core/panel.ts'
import type { HeaderLine, Json, Profile, RequestRecord, ResponseRecord } from '../../core/profile.ts'
import type { Block, Blocks, Inline } from '../../core/view/block.ts'
import { outcomeText, statusText, valueText } from '../../core/view/elements.ts'
import { formatBytes } from '../../core/view/units.ts'
import { curlCommand, sentHost } from './sent-request.ts'

/** A body: JSON indented, a form as pairs, a multipart form with its files, and any other as text. */
function bodySection(request: RequestRecord): Block {
  const { bodySize, contentType } = request
  const about = [contentType, bodySize === null ? null : formatBytes(bodySize)].filter(part => part !== null)
  return { section: ['Body ', { small: about.join(' · ') }], blocks: [bodyBlock(request)] }
}

function bodyBlock({ body, contentType }: RequestRecord): Block {
  if (typeof body === 'string') return { source: body, language: 'text' }
  if (typeof body !== 'object' || body === null) return { text: { value: body } }
  const entries = Array.isArray(body) ? [] : Object.entries(body)
  if (contentType?.startsWith('multipart/') === true) return partsTable(entries)
  if (contentType?.startsWith('application/x-www-form-urlencoded') === true) return recorded('Body', entries)
  return { source: valueText(body, 2), language: 'json' }
}

function partsTable(entries: Entries): Block {
  return {
    title: 'Body',
    columns: [{ label: 'Part' }, { label: 'File or value' }, { label: 'Type' }, { label: 'Size', kind: 'number' }],
    rows: entries.flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map(part => [{ code: name }, ...cellsOf(part)]),
    ),
  }
}

function cellsOf(part: Json): readonly Inline[] {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return [{ value: part }, null, null]
  const { filename, mimetype, size, value } = part
  if (filename === undefined) return [{ value: value ?? part }, textOr(mimetype, ''), null]
  return [textOr(filename, 'unnamed'), textOr(mimetype, ''), typeof size === 'number' ? formatBytes(size) : null]
}

function textOr(value: Json | undefined, other: string): string {
  return typeof value === 'string' ? value : other
}

interface Data {
  request: RequestRecord
  response: ResponseRecord
}

type Entries = ReadonlyArray<readonly [name: string, value: Json]>

function recorded(title: string, entries: Entries): Block {
  return { title, pairs: entries.map(([name, value]) => [name, { value }]) }
}

function countedSection(title: string, entries: Entries | readonly HeaderLine[]): Block {
  return { section: title, count: entries.length, blocks: [recorded(title, entries)] }
}

/** The parts of a request that may be empty, most wanted first. */
function parts({ query, params, cookies }: RequestRecord): ReadonlyArray<readonly [title: string, entries: Entries]> {
  return [
    ['Query', Object.entries(query)],
    ['Route parameters', Object.entries(params)],
    ['Cookies', Object.entries(cookies)],
  ]
}

/** What a request did not have, and what of it was not recorded. */
function absenceText(request: RequestRecord, { dropped }: Profile): string {
  const empty = parts(request)
    .filter(([, entries]) => entries.length === 0)
    .map(([title]) => title.toLowerCase())
  // The store drops these together.
  const isCut = dropped.some(({ what, why }) => what === 'values' && why.startsWith('A stored profile'))
  const isUnknown = (name: string) => isCut && name !== 'cookies'
  const length = Number(request.headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0)
  const size = request.bodySize === null ? 0 : Math.max(request.bodySize, length)
  const missing = [...empty.filter(name => !isUnknown(name)), ...(request.body === null && size === 0 ? ['body'] : [])]
  const unknown = empty.filter(isUnknown)
  if (request.body === null && size > 0) unknown.push(`body of ${formatBytes(size)}`)
  return [
    ...(missing.length === 0 ? [] : [`The request had no ${missing.join(', no ')}.`]),
    ...(unknown.length === 0 ? [] : [`Not recorded: ${unknown.join(', ')}. ${isCut ? tooLarge : notParsed}`]),
  ].join(' ')
}

const tooLarge = 'They were too large to store.'
const notParsed = 'The application did not parse it.'

function requestFacts(profile: Profile): Array<readonly [string, string]> {
  return [
    ['Host', sentHost(profile) ?? 'none'],
    ['Route', profile.routing.matched?.url ?? 'none'],
    ['IP address', profile.ip ?? 'unknown'],
    ['Protocol', `${profile.protocol}, HTTP/${profile.httpVersion}`],
    ['Request ID', profile.requestId ?? 'none'],
  ]
}

function responseFacts({ outcome, response, status }: Profile): Array<readonly [string, string]> {
  return [
    ['Status', statusText(status)],
    ['Content type', response.contentType ?? 'none'],
    ['Body size', response.streamed ? `${formatBytes(response.bodySize)}, streamed` : formatBytes(response.bodySize)],
    ['Outcome', outcomeText(outcome) ?? 'completed'],
  ]
}

function requestBlocks(request: RequestRecord, profile: Profile): Blocks {
  const absence = absenceText(request, profile)
  return [
    request.body !== null && bodySection(request),
    ...parts(request).map(([title, entries]) => entries.length > 0 && countedSection(title, entries)),
    countedSection('Request headers', request.headers),
    absence !== '' && { text: absence, look: 'muted' },
    { section: 'Connection', blocks: [recorded('Connection', requestFacts(profile))] },
    { fold: 'As cURL', blocks: [{ source: curlCommand(profile), language: 'text' }] },
  ]
}

function responseBlocks(response: ResponseRecord, profile: Profile): Blocks {
  return [
    { section: 'Response', blocks: [recorded('Response', responseFacts(profile))] },
    countedSection('Response headers', response.headers),
  ]
}

export const requestPanel: BuiltInPanel<Data> = {
  name: 'request',
  label: 'Request / Response',
  // The wildcard of the not-found handler is not a route parameter.
  read: ({ request, response, routing }) => ({
    request: routing.matched === null ? { ...request, params: {} } : request,
    response,
  }),
  view: ({ request, response }, { profile }) => [
    ...requestBlocks(request, profile),
    ...responseBlocks(response, profile),
  ],
}
