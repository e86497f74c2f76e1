import { kinds, users } from '../src/records/kinds.ts'
import type { RecordKind } from '../src/records/record-kind.ts'
import { audit } from './audit.ts'
import type { Command } from './command.ts'
import { copy } from './copy.ts'
import { exportAll } from './export.ts'
import { migrate } from './migrate.ts'
import { recordAdd } from './record-add.ts'
import { recordChange } from './record-change.ts'
import { recordImport } from './record-import.ts'
import { recordList } from './record-list.ts'
import { recordRemove } from './record-remove.ts'
import { recordShow } from './record-show.ts'
import { restore } from './restore.ts'
import { routes } from './routes.ts'
import { seed } from './seed.ts'
import { tokenAdd } from './token-add.ts'
import { tokenList } from './token-list.ts'
import { tokenRevoke } from './token-revoke.ts'
import { userAdd } from './user-add.ts'
import { userList } from './user-list.ts'
import { userPassword } from './user-password.ts'

function recordCommands(kinds: readonly RecordKind[], all: readonly RecordKind[]): Command[] {
  return kinds.flatMap(kind => [
    recordList(kind),
    recordShow(kind),
    recordAdd(kind),
    recordChange(kind),
    recordRemove(kind, all),
    recordImport(kind),
  ])
}

/**
 * All commands, in the order of the help.
 * @param ownKinds the kinds of records that an application adds to Portico's
 */
export function commandsFor(ownKinds: readonly RecordKind[]): readonly Command[] {
  const all = [...kinds, ...ownKinds]
  return [
    userAdd,
    userList,
    recordShow(users),
    recordChange(users),
    userPassword,
    recordRemove(users, all),
    recordImport(users),
    tokenAdd,
    tokenList,
    tokenRevoke,
    ...recordCommands(
      kinds.filter(kind => kind !== users),
      all,
    ),
    ...recordCommands(ownKinds, all),
    audit(all),
    exportAll,
    restore,
    copy,
    migrate,
    seed,
    routes,
  ]
}
