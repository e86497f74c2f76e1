import type { RecordKind } from '../src/records/record-kind.ts'
import { removeRecord } from '../src/records/repository.ts'
import { type Command, readWords } from './command.ts'
import { commandAuthor } from './command-author.ts'
import { allOrNothing } from './database-failure.ts'
import { findRecord, wordOf } from './record-fields.ts'
import { cellOf, writeOutcome } from './record-output.ts'
import { withDatabase } from './with-database.ts'

/** @param kinds all kinds of records, to find those that go with one */
export function recordRemove(kind: RecordKind, kinds: readonly RecordKind[]): Command {
  return {
    usage: `${wordOf(kind)} remove <${kind.knownBy}|id> [--json]`,
    summary: `Removes one ${kind.name}.`,
    details: `--json  print the removed record as a line of JSON${alsoRemoved(kind, kinds)}`,
    async run(words, terminal) {
      const {
        values: { json },
        operands: [word = ''],
      } = readWords(words, [`${kind.knownBy}|id`], { json: { type: 'boolean', default: false } })
      const removed = await withDatabase(terminal, async ({ db }) => {
        const { id } = await findRecord(db, kind, word)
        return await allOrNothing(() => removeRecord(db, commandAuthor(terminal), kinds, kind, id, () => {}))
      })
      writeOutcome(
        terminal,
        `Removed the ${kind.name} "${cellOf(removed[kind.knownBy])}" (id ${removed.id}).`,
        removed,
        json,
      )
    },
  }
}

/** A paragraph on the records that go with one of this kind, or nothing if none do. */
function alsoRemoved(kind: RecordKind, kinds: readonly RecordKind[]): string {
  const owned = kinds.filter(({ constraints, links }) =>
    Object.values(constraints).some(
      ({ field, refersTo, cascades }) => refersTo === kind && cascades === true && !(field in links),
    ),
  )
  if (owned.length === 0) return ''
  const names = new Intl.ListFormat('en-GB').format(owned.map(({ plural }) => plural))
  return `\n\nThe ${names} of the ${kind.name} are removed, too.`
}
