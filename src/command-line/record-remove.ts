import type { RecordKind } from '../records/record-kind.ts'
import { removeRecord } from '../records/repository.ts'
import { type Command, readWords } from './command.ts'
import { findRecord, unlessRefused, wordOf } from './record-fields.ts'
import { withDatabase } from './with-database.ts'

export function recordRemove (kind: RecordKind): Command {
  return {
    usage: `${wordOf(kind)} remove <${kind.knownBy}|id>`,
    summary: `Removes a ${kind.name}, and what belongs to it alone.`,
    details: '',
    async run (words, terminal) {
      const { operands: [word = ''] } = readWords(words, [`${kind.knownBy}|id`], {})
      const { id } = await withDatabase(terminal, async ({ db }) => {
        const record = await findRecord(db, kind, word)
        await unlessRefused(() => removeRecord(db, kind, record.id, () => {}))
        return record
      })
      terminal.output.write(`Removed the ${kind.name} ${id}.\n`)
    }
  }
}
