import type { FunctionsState } from '@desk/backend/system';
import { useText } from '@desk/i18n/language';
import { cn } from '@/components/cn';
import { FunctionLog } from './function-log';
import { Operation } from './operation';
import { functionRows } from './state';

/** The functions, how often they were called since the start of the program, and their log. */
export function Functions({ times }: { times: number }) {
  const text = useText();
  return (
    <Operation<FunctionsState> times={times} title={text.system.functions} name="functions">
      {(state) => (
        <>
          <div className="overflow-x-auto">
            <table className="w-full text-sm tabular-nums">
              <thead className="text-muted-foreground">
                <tr className="border-b">
                  <th className="py-1 text-start font-normal">{text.system.name}</th>
                  {[text.system.calls, text.system.errors, text.system.half, text.system.most].map(
                    (head, i) => (
                      <th
                        key={head}
                        className={cn('py-1 ps-3 text-end font-normal', i > 1 && 'max-sm:hidden')}
                      >
                        {head}
                      </th>
                    ),
                  )}
                </tr>
              </thead>
              <tbody>
                {functionRows(state).map((row) => (
                  <tr key={row.name} className="border-b">
                    <th scope="row" className="py-1 text-start font-mono font-normal">
                      {row.name}
                    </th>
                    <td className="py-1 ps-3 text-end">{row.calls}</td>
                    <td
                      className={cn('py-1 ps-3 text-end', row.errors > 0 && 'text-destructive font-semibold')}
                    >
                      {row.errors}
                    </td>
                    <td className="py-1 ps-3 text-end max-sm:hidden">{row.half}</td>
                    <td className="py-1 ps-3 text-end max-sm:hidden">{row.most}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <FunctionLog />
        </>
      )}
    </Operation>
  );
}
