import { performance } from 'node:perf_hooks'

/** This process, as profiles name it. The start belongs to it, since systems use the ids of processes again. */
export const thisProcess = { id: process.pid, startedAt: Math.round(performance.timeOrigin) }

/** Whether a profile was recorded in this process. */
export function isThisProcess({ id, startedAt }: typeof thisProcess): boolean {
  return id === thisProcess.id && startedAt === thisProcess.startedAt
}
