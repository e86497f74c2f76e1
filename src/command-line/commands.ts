import { kinds } from '../records/kinds.ts'
import { users } from '../records/user.ts'
import type { Command } from './command.ts'
import { migrate } from './migrate.ts'
import { recordAdd } from './record-add.ts'
import { recordChange } from './record-change.ts'
import { recordImport } from './record-import.ts'
import { recordList } from './record-list.ts'
import { recordRemove } from './record-remove.ts'
import { recordShow } from './record-show.ts'
import { routes } from './routes.ts'
import { seed } from './seed.ts'
import { userAdd } from './user-add.ts'
import { userList } from './user-list.ts'
import { userPassword } from './user-password.ts'

const records = kinds
  .filter(kind => kind !== users)
  .flatMap(kind => [
    recordList(kind),
    recordShow(kind),
    recordAdd(kind),
    recordChange(kind),
    recordRemove(kind),
    recordImport(kind),
  ])

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  userAdd,
  userList,
  recordShow(users),
  recordChange(users),
  userPassword,
  recordRemove(users),
  recordImport(users),
  ...records,
  migrate,
  seed,
  routes,
]
