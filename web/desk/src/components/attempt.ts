import { toast } from '@desk/lib/toast';
import { message } from './message';

/**
 * Runs an action and shows its result as a notice, which never holds words of a report. text.failed
 * is for an error.
 */
export async function attempt<T>(
  text: { failed: (why: string) => string } & Parameters<typeof message>[1],
  action: () => Promise<T>,
  done?: string,
): Promise<T | undefined> {
  toast.dismissErrors();
  try {
    const result = await action();
    if (done) toast.success(done);
    return result;
  } catch (error) {
    toast.error(text.failed(message(error, text)));
    return undefined;
  }
}
