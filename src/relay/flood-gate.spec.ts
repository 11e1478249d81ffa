import { FloodGate } from './flood-gate.js';

describe('a flood', () => {
  const gate = (): FloodGate => new FloodGate(() => 0, new FloodGate(() => 0));
  /** Sends an acknowledgement, two steps and a result; false if one is refused. */
  const answer = (client: FloodGate): boolean =>
    ['', 'tool:status', 'tool:status', 'tool:result'].every(
      (event) => client.pass() && client.passEvent(event),
    );

  it('does not include answers to delivered calls, however many and fast [RELAY-12]', () => {
    const client = gate();
    let answered = 0;
    for (let call = 0; call < 20_000; call += 1) {
      client.sent();
      if (answer(client)) answered += 1;
    }
    expect(answered).toBe(20_000);
  });

  it('includes the same events without calls', () => {
    const client = gate();
    let answered = 0;
    while (answer(client)) answered += 1;
    expect(answered).toBeLessThan(1_000);
  });

  it('is counted per user over all clients, with twice the limit of one', () => {
    const user = new FloodGate(() => 0);
    const passes = (client: FloodGate): number => {
      let events = 0;
      while (client.pass()) events += 1;
      return events;
    };
    const clients = [1, 2, 3].map(() => new FloodGate(() => 0, user));
    expect(clients.map(passes)).toEqual([4_000, 4_000, 0]);
  });

  it('ends at a rate of a thousand events a second, up to a burst of four thousand', () => {
    let now = 0;
    const client = new FloodGate(() => now, new FloodGate(() => now));
    const passes = (): number => {
      let events = 0;
      while (client.pass()) events += 1;
      return events;
    };
    expect(passes()).toBe(4_000);
    now += 1_000;
    expect(passes()).toBe(1_000);
    now += 60_000;
    expect(passes()).toBe(4_000);
  });

  it('is not offset by calls in advance', () => {
    const [client, idle] = [gate(), gate()];
    for (let call = 0; call < 20_000; call += 1) client.sent();
    let [events, usual] = [0, 0];
    while (client.pass()) events += 1;
    while (idle.pass()) usual += 1;
    expect(events).toBe(usual);
  });
});
