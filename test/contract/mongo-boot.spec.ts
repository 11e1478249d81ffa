import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import mongoose from 'mongoose';
import { CONNECT_OPTIONS } from '../../src/storage/mongo/database.js';
import { waitForConnection } from '../../src/storage/mongo/reached.js';
import { freePort } from '../support/processes.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';

describeOnMongo('the connection to MongoDB at the boot', () => {
  it('that does not come to be is told of with its hosts and what to do, without the password', async () => {
    const host = `127.0.0.1:${await freePort()}`;
    const uri = `mongodb://patchbay:hunter2@${host}/patchbay`;
    const options = { ...CONNECT_OPTIONS, serverSelectionTimeoutMS: 100 };
    const message = await waitForConnection(mongoose.createConnection(uri, options), uri).catch(String);
    expect(message).toContain(`MongoDB at ${host} does not let this server in: `);
    expect(message).toContain('whether PATCHBAY_MONGODB_URI names its hosts');
    expect(message).not.toContain('hunter2');
  });

  it('warns of a standalone server, and says how to make a replica set', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const { uri } = aDatabaseOn(MONGO_SERVER!);
    const connection = mongoose.createConnection(uri, CONNECT_OPTIONS);
    await waitForConnection(connection, uri);
    const { setName } = await connection.db!.admin().command({ isMaster: 1 });
    await connection.close();
    const warnings = warned.mock.calls.map(([message]) => String(message));
    expect(warnings).toEqual(setName === undefined ? [expect.stringContaining('rs.initiate()')] : []);
  });
});
