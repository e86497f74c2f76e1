import type { Location } from '../profile.ts'
import { highlightJson, renderSqlBlock } from './code-block.ts'
import {
  type Column,
  locationText,
  type Place,
  renderBadge,
  renderEmptyState,
  renderLocation,
  renderSeverity,
  renderValue,
  type Severity,
  valueText,
  type Tone,
} from './elements.ts'
import { html, Markup } from './html.ts'
import { blocks as joined, code, codeBlock, plain, table } from './markdown.ts'

/**
 * A piece of a line. `code`: as typed. `place`: a line of the application, with a link to the editor. `value`: a
 * recorded value, as JSON unless it is text. `html`: what only a page shows, with its `markdown`.
 */
export type Inline =
  | string
  | number
  | null
  | readonly Inline[]
  | { code: string }
  | { place: Location | null }
  | { badge: string | number; tone?: Tone }
  | { small: Inline }
  | { muted: Inline }
  | { strong: Inline; tone?: Tone }
  | { link: Inline; to: string }
  | { value: unknown }
  | { html: Markup; markdown: string }

export type Row = readonly Inline[] | { cells: readonly Inline[]; className: string }

/** Something that was found, with where and how bad it is: a warning, a verdict, a conclusion. */
export interface Finding {
  tone: Severity
  claim: Inline
  /** Why, and what to do. */
  detail?: Inline
  places?: readonly Location[]
  /** At the end of its line, such as a link. */
  aside?: Inline
}

interface Section {
  section: Inline
  count?: number
  /** Beside the heading: the order of what follows, its unit. */
  note?: string
  /** By which a link leads here. */
  id?: string
  /** Buttons and links at the right of the heading, left out of Markdown. */
  actions?: Markup
  blocks: Blocks
}

/**
 * What a panel or page shows. It is said once: `blocksHtml` makes a page of it, `blocksMarkdown` a text for agents,
 * files and the terminal. `html` is for what is drawn, such as a waterfall; its `markdown` says the same in words.
 */
export type Block =
  | { text: Inline; look?: 'muted' | 'headline' }
  | { notice: Inline; tone?: Tone }
  /** A figure without a value is left out. */
  | { metrics: ReadonlyArray<readonly [label: string, value: Inline, note?: Inline]> }
  | { pairs: ReadonlyArray<readonly [name: Inline, value: Inline]>; title: string; empty?: string }
  /** `lines`: the class of a table of one line a row. `className`: that of any other. */
  | {
      rows: readonly Row[]
      title: string
      columns: readonly Column[]
      empty?: string
      lines?: string
      className?: string
    }
  | { findings: readonly Finding[] }
  | { source: string; language: 'sql' | 'json' | 'text' }
  | Section
  | { fold: Inline; blocks: Blocks }
  | { html: Markup; markdown: string }

/** Blocks in their order. As in a template, null and false stand for nothing. */
export type Blocks = ReadonlyArray<Block | null | false>

/** The level of the headings of sections, below those of the panels. */
const sectionLevel = 3

/** Renders blocks for a page. */
export function blocksHtml(blocks: Blocks, place: Place, level = sectionLevel): Markup {
  return html`${blocks.map(block => block && html`${blockHtml(block, place, level)}\n`)}`
}

function blockHtml(block: Block, place: Place, level: number): Markup {
  const line = (inline: Inline) => inlineHtml(inline, place)
  if ('html' in block) return block.html
  if ('text' in block) {
    return html`<p${block.look !== undefined && html` class="${block.look}"`}>${line(block.text)}</p>`
  }
  if ('notice' in block) {
    return html`<p class="notice${block.tone !== undefined && ` ${block.tone}`}">${line(block.notice)}</p>`
  }
  if ('metrics' in block) {
    return html`<dl class="metrics row">${block.metrics.map(
      ([label, value, note]) =>
        value !== null &&
        html`
<div><dt>${label}</dt><dd>${line(value)}${note != null && html` <small>${line(note)}</small>`}</dd></div>`,
    )}
</dl>`
  }
  if ('pairs' in block) {
    if (block.pairs.length === 0) return renderEmptyState(block.empty ?? 'None.')
    return html`<dl class="pairs" aria-label="${block.title}">${block.pairs.map(
      ([name, value]) => html`
<div><dt>${line(name)}</dt><dd>${line(value)}</dd></div>`,
    )}
</dl>`
  }
  if ('rows' in block) return renderTable(block, place)
  if ('findings' in block) return renderFindings(block.findings, place)
  if ('source' in block) {
    if (block.language === 'sql') return renderSqlBlock(block.source)
    const text = block.language === 'json' ? highlightJson(block.source) : block.source
    return html`<pre tabindex="0"><code>${text}</code></pre>`
  }
  if ('section' in block) return renderSection(block, place, level)
  return html`<details class="fold"><summary>${line(block.fold)}</summary>${blocksHtml(block.blocks, place, level)}</details>`
}

/** A table that scrolls sideways on a narrow screen; or of one line a row, whose first cell is its heading. */
function renderTable(table: Extract<Block, { rows: unknown }>, place: Place): Markup {
  const { className, empty = 'None.', lines, title } = table
  if (table.rows.length === 0) return renderEmptyState(empty)
  const isShown = (_: unknown, index: number) => table.columns[index]?.only !== 'text'
  const columns = table.columns.filter(isShown)
  const rows = table.rows.map(row => {
    const { cells, className } = 'cells' in row ? row : { cells: row }
    const shown = cells.filter(isShown).map(cell => inlineHtml(cell, place))
    return { opening: html`\n<tr${className !== undefined && html` class="${className}"`}>`, cells: shown }
  })
  if (lines === undefined) {
    return html`<div class="scroll" role="region" aria-label="${title}" tabindex="0"><table${className !== undefined && html` class="${className}"`}>
<caption class="sr-only">${title}</caption>
<thead><tr>${columns.map(({ kind, label }) => html`<th scope="col"${kind === 'number' && html` class="number"`}>${label}</th>`)}</tr></thead>
<tbody>${rows.map(({ opening, cells }) => html`${opening}${cells.map((cell, index) => html`<td class="${columns[index]?.kind ?? 'text'}">${cell}</td>`)}</tr>`)}
</tbody></table></div>`
  }
  const classOf = ({ isWide, kind }: Column) => `${kind ?? ''}${isWide === true ? ' only-wide' : ''}`.trim()
  const classes = columns.map(classOf)
  return html`<table class="lines ${lines}"><caption class="sr-only">${title}</caption>
<thead><tr>${columns.map(({ head, label }, index) => html`<th scope="col" class="${classes[index]}">${head ?? label}</th>`)}</tr></thead>
<tbody>${rows.map(({ opening, cells: [heading, ...cells] }) => html`${opening}<th scope="row">${heading}</th>${cells.map((cell, index) => html`<td class="${classes[index + 1]}">${cell}</td>`)}</tr>`)}
</tbody></table>`
}

function renderSection({ section, count, note, id, actions, blocks }: Section, place: Place, level: number): Markup {
  const name = new Markup(`h${level}`)
  const heading = html`<${name}>${inlineHtml(section, place)}${count !== undefined && html` <span class="count">${count.toLocaleString('en')}</span>`}${note !== undefined && html` <small>${note}</small>`}</${name}>`
  return html`<section${id !== undefined && html` id="${id}"`}>${actions === undefined ? heading : html`<div class="head">${heading}${actions}</div>`}
${blocksHtml(blocks, place, level + 1)}</section>`
}

function renderFindings(findings: readonly Finding[], place: Place): Markup {
  if (findings.length === 0) return html``
  return html`<ul class="findings">${findings.map(
    ({ tone, claim, detail, places = [], aside = null }) => html`
<li>${renderSeverity(tone)}<p><b>${inlineHtml(claim, place)}</b>${detail !== undefined && html` ${inlineHtml(detail, place)}`}</p>${(places.length > 0 || aside !== null) && html`<span>${places.map(location => html` ${renderLocation(location, place)}`)}${inlineHtml(aside, place)}</span>`}</li>`,
  )}
</ul>`
}

function inlineHtml(inline: Inline, place: Place): Markup {
  if (inline === null) return html``
  if (typeof inline !== 'object') return html`${inline}`
  if (isList(inline)) return html`${inline.map(part => inlineHtml(part, place))}`
  if ('code' in inline) return html`<code>${inline.code}</code>`
  if ('place' in inline) return renderLocation(inline.place, place)
  if ('badge' in inline) return renderBadge(inline.badge, inline.tone)
  if ('small' in inline) return html`<small>${inlineHtml(inline.small, place)}</small>`
  if ('muted' in inline) return html`<span class="muted">${inlineHtml(inline.muted, place)}</span>`
  if ('strong' in inline) {
    return html`<b${inline.tone !== undefined && html` class="${inline.tone}"`}>${inlineHtml(inline.strong, place)}</b>`
  }
  if ('link' in inline) return html`<a href="${inline.to}">${inlineHtml(inline.link, place)}</a>`
  return 'value' in inline ? renderValue(inline.value) : inline.html
}

/** Renders blocks as Markdown. `root`: the application's folder, which file names are shown relative to. */
export function blocksMarkdown(blocks: Blocks, root: string, level = sectionLevel): string {
  return joined(...blocks.map(block => (block ? blockMarkdown(block, root, level) : null)))
}

function blockMarkdown(block: Block, root: string, level: number): string {
  const line = (inline: Inline) => inlineMarkdown(inline, root)
  const heading = (title: string) => `${'#'.repeat(level)} ${title}`
  if ('html' in block) return block.markdown
  if ('text' in block) return line(block.text)
  if ('notice' in block) return line(block.notice)
  if ('metrics' in block) {
    return block.metrics
      .filter(([, value]) => value !== null)
      .map(([label, value, note]) => `- ${plain(label)}: ${line(value)}${note == null ? '' : ` (${line(note)})`}`)
      .join('\n')
  }
  if ('pairs' in block) {
    if (block.pairs.length === 0) return plain(block.empty ?? 'None.')
    return table(
      ['Name', 'Value'],
      block.pairs.map(([name, value]) => [line(name), line(value)]),
    )
  }
  if ('rows' in block) {
    if (block.rows.length === 0) return plain(block.empty ?? 'None.')
    const isTold = (_: unknown, index: number) => block.columns[index]?.only !== 'page'
    return table(
      block.columns.filter(isTold).map(({ label }) => plain(label)),
      // The spaces that line up decimal points in a page.
      block.rows.map(row => ('cells' in row ? row.cells : row).filter(isTold).map(cell => line(cell).trim())),
    )
  }
  if ('findings' in block) {
    return block.findings
      .map(({ claim, detail, places = [], aside = null }) =>
        ['-', line(claim), line(detail ?? null), ...places.map(place => line({ place })), line(aside)]
          .filter(part => part !== '')
          .join(' '),
      )
      .join('\n')
  }
  if ('source' in block) return codeBlock(block.source, block.language === 'text' ? '' : block.language)
  const [title, inner] = 'section' in block ? [block.section, block.blocks] : [block.fold, block.blocks]
  const amount = 'count' in block && block.count !== undefined ? ` (${block.count})` : ''
  const note = 'note' in block && block.note !== undefined ? plain(block.note) : null
  const text = blocksMarkdown(inner, root, level + 1)
  // Without a text, it is drawn.
  return text === '' ? '' : joined(heading(`${line(title)}${amount}`), note, text)
}

function inlineMarkdown(inline: Inline, root: string): string {
  if (inline === null) return ''
  if (typeof inline !== 'object') return plain(String(inline))
  if (isList(inline)) return inline.map(part => inlineMarkdown(part, root)).join('')
  if ('code' in inline) return code(inline.code)
  if ('place' in inline) return inline.place === null ? '' : code(locationText(inline.place, root))
  if ('badge' in inline) return plain(String(inline.badge))
  if ('small' in inline) return inlineMarkdown(inline.small, root)
  if ('muted' in inline) return inlineMarkdown(inline.muted, root)
  if ('strong' in inline) return inlineMarkdown(inline.strong, root)
  if ('link' in inline) return inlineMarkdown(inline.link, root)
  return 'value' in inline ? code(valueText(inline.value)) : inline.markdown
}

/** Array.isArray() does not narrow a readonly array. */
function isList(inline: object): inline is readonly Inline[] {
  return Array.isArray(inline)
}

/** What identifies a request, or the start of an application. One whose value is null is left out. */
export type Fact = readonly [name: string, value: Inline]

/** The facts in the band at the top of a page. In a text they are `metrics`. */
export function renderFacts(facts: readonly Fact[], place: Place, label = 'Facts'): Markup {
  return html`<dl class="facts" tabindex="0" aria-label="${label}">${facts.map(
    ([name, value]) =>
      value !== null &&
      html`
<div><dt>${name}</dt> <dd>${inlineHtml(value, place)}</dd></div>`,
  )}
</dl>`
}

/** Where a panel without data says why. */
export function emptyBlocks(why: string): readonly Block[] {
  return [{ html: renderEmptyState(why), markdown: plain(why) }]
}
