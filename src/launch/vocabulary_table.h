// What each vocabulary_NAME.cc has for the table in vocabulary.cc.
#pragma once

#include "launch/vocabulary.h"

namespace exa::vocabulary {

bool is_slurm_script(std::string_view text);
bool is_flux_script(std::string_view text);

bool recognises_sbatch(const Source& source);
void read_sbatch(const Source& source, Reading& reading);
void write_sbatch(const Writing& writing, Source& target);

bool recognises_srun(const Source& source);
void read_srun(const Source& source, Reading& reading);
void write_srun(const Writing& writing, Source& target);

bool recognises_flux(const Source& source);
void read_flux(const Source& source, Reading& reading);
void write_flux(const Writing& writing, Source& target);

bool recognises_kubernetes(const Source& source);
void read_kubernetes(const Source& source, Reading& reading);
void write_kubernetes(const Writing& writing, Source& target);

bool recognises_compose(const Source& source);
void read_compose(const Source& source, Reading& reading);
void write_compose(const Writing& writing, Source& target);

bool recognises_ray(const Source& source);
void read_ray(const Source& source, Reading& reading);
void write_ray(const Writing& writing, Source& target);

bool recognises_skypilot(const Source& source);
void read_skypilot(const Source& source, Reading& reading);
void write_skypilot(const Writing& writing, Source& target);

bool recognises_dstack(const Source& source);
void read_dstack(const Source& source, Reading& reading);
void write_dstack(const Writing& writing, Source& target);

bool recognises_kueue(const Source& source);
void read_kueue(const Source& source, Reading& reading);
void write_kueue(const Writing& writing, Source& target);

bool recognises_openshift_ai(const Source& source);
void read_openshift_ai(const Source& source, Reading& reading);
void write_openshift_ai(const Writing& writing, Source& target);

bool recognises_palette(const Source& source);
void read_palette(const Source& source, Reading& reading);
void write_palette(const Writing& writing, Source& target);

bool recognises_rafay(const Source& source);
void read_rafay(const Source& source, Reading& reading);
void write_rafay(const Writing& writing, Source& target);

bool recognises_kubespawner(const Source& source);
void read_kubespawner(const Source& source, Reading& reading);
void write_kubespawner(const Writing& writing, Source& target);

}  // namespace exa::vocabulary
