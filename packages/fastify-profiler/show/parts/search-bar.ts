import { METHODS } from 'node:http'
import type { SearchCriteria } from '../../base/summary.ts'
import { html, type Content, type Markup } from '../../base/html.ts'
import { inputTime } from './search-query.ts'
import { titled } from './titled.ts'

/** Where the form leads, and what it offers besides the standard fields. */
export interface SearchBarOptions {
  base: string
  /** Labels to search by: ["license"]. */
  labels?: readonly string[]
  /** The panel in which results open. */
  panel?: string
}

const usual = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The search form, filled with the criteria. */
export function renderSearchBar(criteria: SearchCriteria, { base, labels = [], panel }: SearchBarOptions): Markup {
  return html`<form class="search" action="${base}/search" role="search" aria-label="Search requests">
${panel !== undefined && html`<input type="hidden" name="panel" value="${panel}">`}
${field('url', 'URL contains', html`<input id="search-url" name="url" value="${criteria.url}" maxlength="500">`)}
<div class="pair">
${field('method', 'Method', html`<select id="search-method" name="method"><option value="">Any</option>${methods(criteria.method).map(method => html`<option${method === criteria.method && html` selected`}>${method}</option>`)}</select>`)}
${field('status', 'Status', html`<input id="search-status" name="status" value="${criteria.status}" placeholder="404, 5xx" title="404, 4xx, &gt;=400, none" maxlength="10">`)}
</div>
${text('exception', 'Exception contains', criteria.exception)}
${text('route', 'Route', criteria.route)}
<div class="pair">
${field('sql', 'Queries', html`<input id="search-sql" name="sql" value="${criteria.sql}" placeholder="3, &gt;10" maxlength="10">`)}
${text('statement', 'Statement contains', criteria.statement)}
</div>
${text('text', 'Any text', criteria.text)}
<div class="pair">
${text('host', 'Host', criteria.host)}
${text('ip', 'IP', criteria.ip)}
</div>
${labels.map(name => text(name, titled(name), criteria.labels?.[name]))}
${range('Duration in ms', 'duration', html`type="number" min="0" step="any"`, criteria.durationFrom, criteria.durationTo)}
${range('Time in UTC', 'time', html`type="datetime-local" step="1"`, inputTime(criteria.timeFrom), inputTime(criteria.timeTo))}
${text('token', 'Token', criteria.token)}
<p class="actions"><button>Search</button> <a href="${base}/">Clear</a></p>
</form>`
}

function methods(chosen: string | undefined): string[] {
  return chosen !== undefined && METHODS.includes(chosen) && !usual.includes(chosen) ? [...usual, chosen] : usual
}

function field(name: string, label: string, input: Markup): Markup {
  return html`<div class="field"><label for="search-${name}">${label}</label>${input}</div>`
}

function text(name: string, label: string, value: Content): Markup {
  return field(name, label, html`<input id="search-${name}" name="${name}" value="${value}" maxlength="500">`)
}

function range(legend: string, name: string, attributes: Markup, from: Content, to: Content): Markup {
  return html`<fieldset class="range"><legend>${legend}</legend>
<input name="${name}From" aria-label="${legend}, from" ${attributes} value="${from}"><span aria-hidden="true">to</span><input name="${name}To" aria-label="${legend}, to" ${attributes} value="${to}"></fieldset>`
}
