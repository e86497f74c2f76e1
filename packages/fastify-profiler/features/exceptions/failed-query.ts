import type { ViewContext } from '../../core/panel.ts'
import type { Exception, Profile, Query } from '../../core/profile.ts'
import { queryOf } from '../performance/failed-calls.ts'
import { type Part, renderSqlBlock } from '../../core/view/code-block.ts'
import type { Block, Inline } from '../../core/view/block.ts'
import { html } from '../../core/view/html.ts'
import { codeBlock } from '../../core/view/markdown.ts'
import { profileUrl } from '../../core/urls.ts'
import { runnableSql } from '../queries/database-panel.ts'

/** The query whose error a request threw. */
interface FailedQuery {
  query: Query
  /** Its number on the Database panel. */
  number: number
  /** The part of its statement that is wrong, as far as the database tells: from one index to another. */
  wrong: readonly [start: number, end: number] | null
  /** What the database suggests. */
  hint: string | null
  code: string | null
}

export function failedQueryOf({ database, exceptions }: Pick<Profile, 'database' | 'exceptions'>): FailedQuery | null {
  // Errors of the log come last. Beside a thrown one, they did not make the request fail.
  const logged = exceptions.findIndex(({ relation }) => relation === 'logged')
  const thrown = logged > 0 ? exceptions.slice(0, logged) : exceptions
  for (const exception of thrown) {
    const query = queryOf(exception, database)
    if (query === undefined) continue
    const { hint } = exception.properties
    return {
      query,
      number: (database?.queries.indexOf(query) ?? 0) + 1,
      wrong: wrongPart(query.sql, exception),
      hint: typeof hint === 'string' && hint !== '' ? hint : null,
      code: exception.code,
    }
  }
  return null
}

/** At the position that the database names, or where the name in the message stands: column "nmae" does not exist. */
function wrongPart(sql: string, { code, message, properties }: Exception): FailedQuery['wrong'] {
  const name = /["'`]([^"'`\n]+)["'`]/.exec(message)?.[1] ?? null
  const position = Number(properties.position) - 1
  const word = Number.isInteger(position) ? (/^(?:[\w."]+|\S)/.exec(sql.slice(position))?.[0] ?? null) : null
  // Where values were masked, positions are those of another text.
  if (word !== null && (name === null || word.includes(name) || name.includes(word))) {
    return [position, position + word.length]
  }
  // The message of an invalid value quotes the value.
  if (name === null || code === '22P02') return null
  const places = [...sql.matchAll(/[\w$.]+/g)].filter(([word]) => word === name)
  const [place, ...others] = places
  return place === undefined || others.length > 0 ? null : [place.index, place.index + name.length]
}

/** The statement with what is wrong in it marked, as a compiler shows an error. */
export function failedQuerySection({ code, hint, number, query, wrong }: FailedQuery, context: ViewContext): Block {
  const url = `${profileUrl(context.base, context.profile.token, 'database')}#query-${number}`
  const sender: Inline = query.location === null ? null : [' sent by ', { place: query.location }]
  return {
    section: [
      `Query ${number} failed`,
      { small: [code === null ? null : ` ${code}`, code === null || sender === null ? null : ' ·', sender] },
    ],
    blocks: [
      { html: renderSqlBlock(query.sql, wrong), markdown: codeBlock(markedSql(query.sql, wrong), 'sql') },
      hint !== null && { notice: ['The database suggests: ', hint], tone: 'warning' },
      {
        html: html`<div class="chips"><button type="button" data-copy-text="${runnableSql(query)}" hidden>Copy runnable SQL</button><a class="button" href="${url}">Open in Database</a></div>`,
        markdown: '',
      },
    ],
  }
}

/** A statement as text, with a line of carets below one part. */
function markedSql(sql: string, part: Part | null): string {
  if (part === null) return sql
  const [start, end] = part
  const lineStart = sql.lastIndexOf('\n', start) + 1
  const lineEnd = sql.indexOf('\n', end)
  const carets = ' '.repeat(start - lineStart) + '^'.repeat(end - start)
  return lineEnd === -1 ? `${sql}\n${carets}` : `${sql.slice(0, lineEnd)}\n${carets}${sql.slice(lineEnd)}`
}
