import { html, type Markup } from '../../base/html.ts'
import type { NotSampled, OtherRequests, Samples } from '../../base/samples.ts'
import { callCells } from '../../collect/call-cells.ts'
import { outermostCalls } from '../../collect/call-tree.ts'
import type { BuiltInPanel, ViewContext } from '../../collect/panel.ts'
import { isRawSamples } from '../../watch/sampler.ts'
import { blocks, plain } from '../markdown/markdown.ts'
import { functionTableMarkdown, renderFunctionTable } from '../parts/function-table.ts'
import { functionName, renderIcicle } from '../parts/icicle.ts'
import { profileUrl, samplesUrl } from '../parts/profile-url.ts'
import { renderSampleForms } from '../parts/sample-forms.ts'
import { count as counted, formatBytes, formatDuration, formatNumber, formatShare } from '../parts/units.ts'

/** The functions that a sampled request spent its time or memory on. */
export const cpuPanel: BuiltInPanel<Samples | NotSampled> = {
  name: 'cpu',
  label: 'CPU',
  read: ({ samples }) => samples ?? null,
  badge: samples =>
    'why' in samples ? { text: 'no samples', tone: 'warning' } : { text: badgeText(samples), tone: 'neutral' },
  body: (samples, context) => html`${'why' in samples ? renderReason(samples) : renderSamples(samples, context)}
${renderSampleForms(context)}`,
  empty:
    context => html`<p class="empty">This request was not sampled. Samples show which functions use the CPU, or allocate memory.</p>
${renderSampleForms(context)}`,
  markdown(samples, { root }) {
    if ('why' in samples) return plain(samples.why)
    return blocks(
      plain([headline(samples), howSampled(samples), othersText(samples.others)].join(' ').trim()),
      '### Hot lines',
      functionTableMarkdown(samples.hot, samples, root),
      samples.charged.length === 0
        ? null
        : blocks('### Your code, with what it calls', functionTableMarkdown(samples.charged, samples, root)),
    )
  },
}

function renderReason({ why }: NotSampled): Markup {
  return html`<p class="notice warning">${why}</p>`
}

function renderSamples(samples: Samples, context: ViewContext): Markup {
  const { charged, hot } = samples
  return html`<p class="headline">${headline(samples)}</p>
<p class="muted">${howSampled(samples)}</p>
${renderOthers(samples.others, context)}
${renderPicture(samples, context)}
<section aria-labelledby="hot"><h2 id="hot">Hot lines <small>without what they call</small></h2>
${renderFunctionTable('Hot lines', hot, samples, context)}</section>
${
  charged.length > 0 &&
  html`<section aria-labelledby="charged"><h2 id="charged">Your code <small>with what it calls in libraries and Node</small></h2>
${renderFunctionTable('Your code', charged, samples, context)}</section>`
}`
}

function renderPicture({ kind, unstored }: Samples, context: ViewContext): Markup | null {
  const { base, isFile, profile, readSamples, root } = context
  if (unstored !== null) return html`<p class="notice">${unstored}</p>`
  const text = readSamples?.() ?? null
  const raw: unknown = text === null ? null : JSON.parse(text)
  if (!isRawSamples(raw)) return null
  const file = kind === 'cpu' ? '.cpuprofile' : '.heapprofile'
  return html`<section aria-labelledby="calls"><div class="head"><h2 id="calls">Calls <small>each above those that it calls, as wide as its share</small></h2>${isFile !== true && html`<a class="right" href="${samplesUrl(base, profile.token)}">Download ${file}</a>`}</div>
${renderIcicle(callCells(outermostCalls(raw)), 'Calls by their share. The tables below have the largest.', root)}</section>`
}

/** The largest part in one sentence. */
function headline(samples: Samples): string {
  const { hot, kind, total } = samples
  const [first] = hot
  const what = kind === 'cpu' ? 'on the CPU' : 'allocated'
  const did = kind === 'cpu' ? 'used the CPU' : 'allocated'
  if (first === undefined) return `No samples: the request ${did} too little to be seen.`
  return `${functionName(first.function)}: ${formatShare(first.amount, total)} of ${totalText(samples)} ${what}.`
}

function howSampled({ duration, interval, kind }: Samples): string {
  const each = kind === 'cpu' ? `every ${formatNumber(interval)} µs` : `about every ${formatBytes(interval)}`
  return `Sampled ${each} for ${formatDuration(duration)}.`
}

function totalText({ kind, total }: Samples): string {
  return kind === 'cpu' ? formatDuration(total) : formatBytes(total)
}

/** The panel's label is that of the CPU. */
function badgeText(samples: Samples): string {
  const total = totalText(samples)
  return samples.kind === 'cpu' ? total : `allocations: ${total}`
}

function othersText({ count }: OtherRequests): string {
  return count === 0 ? '' : `${counted(count, 'other request')} ran meanwhile; their samples are in here.`
}

function renderOthers(others: OtherRequests, { base }: ViewContext): Markup | null {
  if (others.count === 0) return null
  const { count, tokens } = others
  const more = count - tokens.length
  return html`<p class="notice">${othersText(others)}${tokens.map(token => html` <a href="${profileUrl(base, token)}">${token}</a>`)}${more > 0 && ` and ${more} more`}</p>`
}
