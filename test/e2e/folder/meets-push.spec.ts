import type { HttpProxy } from '../../support/http-proxy.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { DEEDS, type Deed, Meeting, type Moment, MOMENTS } from '../../support/folder-meeting.js';
import type { Machine } from '../../support/folder-machine.js';
import type { Ran } from '../../support/run-command.js';

/** The requests of a push after which the person has time to do something. */
const STEPS = ['POST /blobs/missing', 'POST /files/commit'] as const;
type Step = (typeof STEPS)[number];

/** Whether a client is connected that keeps the folder in step by itself, or only executes calls. */
const CLIENTS = { 'beside a client that watches': [], 'beside one that does not': ['--no-watch'] };

describe.each(Object.entries(CLIENTS))('a person’s change during a push, %s', (_client, flags) => {
  let fixture: FolderFixture;
  let wire: HttpProxy;
  let laptop: Machine;
  const meetings = new Map<string, Meeting>();
  const nameOf = (deed: Deed, moment: Moment, step?: Step) => [deed, moment, step?.split('/')[1]].join(' ');
  const during = STEPS.flatMap((step) => DEEDS.map((deed): [Deed, Step] => [deed, step]));

  beforeAll(async () => {
    fixture = await FolderFixture.start();
    wire = await fixture.wire();
    laptop = fixture.machine('laptop', 'proj', wire);
    const model = fixture.model();
    const add = (deed: Deed, name: string) =>
      meetings.set(name, new Meeting(fixture, laptop, model, { deed, name }));
    for (const deed of DEEDS)
      for (const moment of MOMENTS) if (moment !== 'during') add(deed, nameOf(deed, moment));
    for (const [deed, step] of during) add(deed, nameOf(deed, 'during', step));
    await Meeting.prepare(laptop, [...meetings.values()]);
    await laptop.connect(...flags);
  });
  afterAll(async () => {
    await fixture.close();
    await wire.close();
  });

  /** A push succeeds and, as any does, keeps in the Cloud what was deleted here, until it is told to delete. */
  const pushes = async (...more: string[]): Promise<Ran> => {
    const came = await laptop.push(...more);
    expect([came.code, came.out]).toEqual([0, expect.stringMatching(/^sent \d+ file/)]);
    expect(came.out).not.toContain('conflict');
    return came;
  };

  /** The person does it once the push has this answer from the server. */
  const actsAt = (step: Step, meeting: Meeting): Promise<void> =>
    new Promise((resolve, reject) => {
      wire.onAnswered = ({ route }) => {
        if (route !== step) return;
        wire.onAnswered = () => undefined;
        return meeting.act().then(resolve, reject);
      };
    });

  it.each(DEEDS)('%s, before it', async (deed) => {
    const meeting = meetings.get(nameOf(deed, 'before'))!;
    await meeting.act();
    const { out } = await pushes();
    if (flags.length > 0 && (deed === 'delete' || deed === 'rename'))
      expect(out).toContain('was deleted here');
    await pushes('--delete');
    await meeting.settles();
  });

  it.each(flags.length === 0 ? during.slice(DEEDS.length) : during)(
    '%s, during it, after its %s',
    async (deed, step) => {
      const meeting = meetings.get(nameOf(deed, 'during', step))!;
      await meeting.writes('to be sent');
      const acted = actsAt(step, meeting);
      await pushes();
      await acted;
      await pushes('--delete');
      await meeting.settles();
    },
  );

  // What comes after it is no push's any more where a client watches.
  if (flags.length === 0) return;

  it.each(DEEDS)('%s, after it', async (deed) => {
    const meeting = meetings.get(nameOf(deed, 'after'))!;
    await meeting.writes('to be sent');
    await pushes();
    await meeting.act();
    await pushes('--delete');
    await meeting.settles();
  });
});
