/** A number that identifies the current turn of the event loop. */
export function loopTurn(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount;
}
