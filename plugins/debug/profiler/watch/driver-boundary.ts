import { Boundary } from '../base/boundary.ts'

type Complain = (error: unknown, message: string) => void

/** The log of the application that was installed last; empty before. */
let logs: readonly Complain[] = []

/** Catches the failures of all drivers. They are shared by all applications of the process. */
export const driverBoundary = new Boundary((error, message) => {
  for (const log of logs) log(error, message)
})

/** Logs failures of drivers to the application that was installed last. */
export function complainTo(log: Complain): void {
  logs = [log]
}
