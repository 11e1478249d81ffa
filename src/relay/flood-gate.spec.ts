import { FloodGate } from './flood-gate.js';

describe('a flood', () => {
  const gate = (): FloodGate => new FloodGate(() => 0, new FloodGate(() => 0));
  /** Acknowledges a call, says two steps, and its result; false where one is too much. */
  const answer = (client: FloodGate): boolean =>
    ['', 'tool:status', 'tool:status', 'tool:result'].every(
      (event) => client.pass() && client.passEvent(event),
    );

  it('is not what a client says to calls that it was sent, however many and fast [RELAY-12]', () => {
    const client = gate();
    for (let call = 0; call < 20_000; call += 1) {
      client.sent();
      expect(answer(client)).toBe(true);
    }
  });

  it('is the same without calls', () => {
    const client = gate();
    let answered = 0;
    while (answer(client)) answered += 1;
    expect(answered).toBeLessThan(1_000);
  });

  it('is not made good for by calls in advance', () => {
    const [client, idle] = [gate(), gate()];
    for (let call = 0; call < 20_000; call += 1) client.sent();
    let [events, usual] = [0, 0];
    while (client.pass()) events += 1;
    while (idle.pass()) usual += 1;
    expect(events).toBe(usual);
  });
});
