import { writeSync } from 'node:fs';

/** The pipe that run-spec.mjs reads. */
const TO_PARENT = 3;
const tell = (line) => writeSync(TO_PARENT, `${JSON.stringify(line)}\n`);

/** A reporter of Jest that tells of each test when it begins and when it ends, and of its file when that ends. */
export default class TellTests {
  onTestCaseStart(_file, { fullName }) {
    tell({ test: fullName, status: 'begun' });
  }

  onTestCaseResult(_file, { fullName, status }) {
    tell({ test: fullName, status });
  }

  onTestFileResult(_file, { testResults, testExecError, failureMessage }) {
    // A hook that fails after a test has ended makes that one fail.
    const failed = testResults.find(({ status }) => status === 'failed')?.fullName;
    const ran = testResults.some(({ status }) => status === 'passed' || status === 'failed');
    const error = testExecError || (failureMessage && !failed) ? String(failureMessage) : undefined;
    tell({ end: true, failed, ran, error });
  }

  getLastError() {}
}
