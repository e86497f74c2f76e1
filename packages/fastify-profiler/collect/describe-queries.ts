import { textOf } from '../base/foreign-value.ts'
import { toMicroseconds } from '../base/microseconds.ts'
import type { DatabaseUse, Json, Query, Repetition } from '../base/profile.ts'
import { masked } from '../mask/known-secrets.ts'
import type { Mask } from '../mask/mask.ts'
import { maskQuery } from '../mask/mask-query.ts'
import type { RecordedQueries, RecordedQuery } from '../watch/recorded-queries.ts'
import { keptParameters, type Room } from './kept-parameters.ts'

/** Limits of all parameters of a request. */
const parametersKept: Room = { values: 500, characters: 200_000 }

/** The queries of a request, masked. */
export function describeQueries(queries: RecordedQueries | null, mask: Mask): DatabaseUse | null {
  if (queries === null) return null
  const { count, failed, rows, duration, waited, transactions, repetitions, first } = queries
  const room = { ...parametersKept }
  return {
    count,
    failed,
    rows,
    duration: toMicroseconds(duration),
    waited: toMicroseconds(waited),
    transactions,
    repetitions: repetitions.found().map(repetition => maskRepetition(repetition, mask)),
    queries: first.map(query => describeQuery(query, room, mask)),
  }
}

function describeQuery(query: RecordedQuery, room: Room, mask: Mask): Query {
  const { system, statement, start, duration, waited, rows, failure, location, transaction } = query
  const { sql, parameters, secrets } = maskQuery(statement, query.parameters)
  return {
    system,
    sql: mask.text(sql),
    parameters: keptParameters(parameters, room).map((parameter): Json => mask.value(parameter)),
    start: toMicroseconds(start),
    duration: duration === null ? null : toMicroseconds(duration),
    waited: toMicroseconds(waited),
    rows: failure === null ? rows : null,
    error: failure === null ? null : mask.text(errorText(failure.error, secrets)),
    location,
    transaction,
  }
}

function maskRepetition(repetition: Repetition, mask: Mask): Repetition {
  return { ...repetition, sql: mask.text(maskQuery(repetition.sql, []).sql) }
}

/** The text of an error, with the secrets it may quote masked. */
function errorText(error: unknown, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => (secret === '' ? text : text.replaceAll(secret, masked)), textOf(error))
}
