import type { RecordKind } from '../src/records/record-kind.ts'
import { type Command, readWords } from './command.ts'
import { findRecord, wordOf } from './record-fields.ts'
import { writeRecord } from './record-output.ts'
import { withDatabase } from './with-database.ts'

export function recordShow(kind: RecordKind): Command {
  return {
    usage: `${wordOf(kind)} show <${kind.knownBy}|id> [--json]`,
    summary: `Shows one ${kind.name}.`,
    details: '--json  print it as a line of JSON',
    async run(words, terminal) {
      const {
        values,
        operands: [word = ''],
      } = readWords(words, [`${kind.knownBy}|id`], { json: { type: 'boolean', default: false } })
      writeRecord(terminal, kind, await withDatabase(terminal, ({ db }) => findRecord(db, kind, word)), values.json)
    },
  }
}
