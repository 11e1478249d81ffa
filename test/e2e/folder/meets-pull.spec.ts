import { EXIT } from '../../../packages/cli/src/cli-error.js';
import type { HttpProxy } from '../../support/http-proxy.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { DEEDS, type Deed, Meeting, type Moment, MOMENTS } from '../../support/folder-meeting.js';
import type { Machine } from '../../support/folder-machine.js';
import type { Ran } from '../../support/run-command.js';

/** Which side gives way where both have changed the file: both do, in turns. */
const SETTLED_BY = { before: 'pull', during: 'push' } as const;

describe('a person’s change during a pull of another text of the file', () => {
  let fixture: FolderFixture;
  let wire: HttpProxy;
  let laptop: Machine;
  const meetings = new Map<string, Meeting>();
  const nameOf = (deed: Deed, moment: Moment) => `${deed} ${moment}`;

  beforeAll(async () => {
    fixture = await FolderFixture.start();
    wire = await fixture.wire();
    laptop = fixture.machine('laptop', 'proj', wire);
    const model = fixture.model();
    for (const deed of DEEDS)
      for (const moment of MOMENTS) {
        const name = nameOf(deed, moment);
        meetings.set(name, new Meeting(fixture, laptop, model, { deed, name }));
      }
    await Meeting.prepare(laptop, [...meetings.values()]);
    await laptop.connect();
  });
  afterAll(async () => {
    await fixture.close();
    await wire.close();
  });

  /** The person does it once the pull has the bytes. */
  const pullsWhile = async (meeting: Meeting): Promise<Ran> => {
    let acted = false;
    wire.onAnswered = async ({ route }) => {
      if (route !== 'POST /blobs/read' || acted) return;
      acted = true;
      await meeting.act();
    };
    const came = await laptop.pull();
    wire.onAnswered = () => undefined;
    expect(acted).toBe(true);
    return came;
  };

  /** What was pulled is the file's, or the conflict is shown until the person decides. */
  const comesTo = async (meeting: Meeting, { code, out }: Ran, by: 'push' | 'pull'): Promise<void> => {
    if (meeting.options.deed === 'mode change')
      expect([code, out]).toEqual([0, expect.stringMatching(/^received 1 file /)]);
    else {
      expect([code, out]).toEqual([EXIT.incomplete, expect.stringContaining(`${meeting.path}: was `)]);
      expect(out).toContain('Nothing was overwritten');
      await meeting.isInConflict();
      expect((await laptop[by]('--force')).code).toBe(0);
    }
    await meeting.settles();
  };

  it.each(DEEDS)('%s, before it', async (deed) => {
    const meeting = meetings.get(nameOf(deed, 'before'))!;
    await meeting.writesThere('from elsewhere');
    await meeting.act();
    await comesTo(meeting, await laptop.pull(), SETTLED_BY.before);
  });

  it.each(DEEDS)('%s, during it', async (deed) => {
    const meeting = meetings.get(nameOf(deed, 'during'))!;
    await meeting.writesThere('from elsewhere');
    await comesTo(meeting, await pullsWhile(meeting), SETTLED_BY.during);
  });

  it.each(DEEDS)('%s, after it', async (deed) => {
    const meeting = meetings.get(nameOf(deed, 'after'))!;
    await meeting.writesThere('from elsewhere');
    expect((await laptop.pull()).out).toMatch(/^received 1 file /);
    await meeting.act();
    await meeting.settles();
  });
});
